"""Chakra's messages as Google's library reads and writes them: a witness that knows nothing of ours."""


def messages_of_protobuf():
    """Classes that Google's library makes of the part of et_def.proto that is used; None where it is not installed."""
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError:
        return None
    whole = descriptor_pb2.FileDescriptorProto(name="et_def.proto", package="ChakraProtoMsg", syntax="proto3")
    types = descriptor_pb2.FieldDescriptorProto
    forms = {"AttributeProto": [("name", 1, types.TYPE_STRING, False), ("int64_val", 9, types.TYPE_INT64, False), ("bool_val", 27, types.TYPE_BOOL, False),
                                ("string_val", 29, types.TYPE_STRING, False)],
             "GlobalMetadata": [("version", 1, types.TYPE_STRING, False), ("attr", 2, "AttributeProto", True)],
             "Node": [("id", 1, types.TYPE_UINT64, False), ("name", 2, types.TYPE_STRING, False), ("type", 3, types.TYPE_INT32, False),
                      ("ctrl_deps", 4, types.TYPE_UINT64, True), ("data_deps", 5, types.TYPE_UINT64, True), ("start_time_micros", 6, types.TYPE_UINT64, False),
                      ("duration_micros", 7, types.TYPE_UINT64, False), ("attr", 10, "AttributeProto", True)]}
    for name, fields in forms.items():
        message = whole.message_type.add(name=name)
        if name == "AttributeProto":
            message.oneof_decl.add(name="value")
        for key, place, kind, repeated in fields:
            one = message.field.add(name=key, number=place, label=types.LABEL_REPEATED if repeated else types.LABEL_OPTIONAL)
            if isinstance(kind, str):
                one.type, one.type_name = types.TYPE_MESSAGE, ".ChakraProtoMsg." + kind
            else:
                one.type = kind
            if key.endswith("_val"):
                one.oneof_index = 0
    pool = descriptor_pool.DescriptorPool()
    pool.Add(whole)
    make = getattr(message_factory, "GetMessageClass", None) or message_factory.MessageFactory(pool).GetPrototype
    return {name: make(pool.FindMessageTypeByName("ChakraProtoMsg." + name)) for name in forms}
