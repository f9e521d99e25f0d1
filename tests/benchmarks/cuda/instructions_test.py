#!/usr/bin/env python3
"""What instructions.py counts in a listing that can be counted by hand."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import instructions
import sass

LISTING = """
	code for sm_90
		Function : _Z4sumsv
	.headerflags	@"EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)"
        /*0000*/                   S2R R0, SR_TID.X ;                  /* 0x0000000000007919 */
                                                                       /* 0x000e220000002100 */
        /*0010*/               @P0 EXIT ;                              /* 0x000000000000094d */
        /*0020*/                   LDG.E.128 R4, desc[UR4][R2.64] ;    /* 0x0000000402047981 */
        /*0030*/                   BRA.DIV UR6, 0xe0 ;                 /* 0x0000000006047947 */
        /*0040*/              @!P1 BRA 0x70 ;                          /* 0x0000000000089947 */
        /*0050*/                   CALL.REL.NOINC 0x100 ;              /* 0x0000000000a07944 */
        /*0060*/                   BRA 0xa0 ;                          /* 0x0000000000107947 */
        /*0070*/                   FMUL R4, R4, R5 ;                   /* 0x0000000504047220 */
        /*0080*/                   LDG.E R8, desc[UR4][R6.64] ;        /* 0x0000000406087981 */
        /*0090*/               @P2 BRA 0x80 ;                          /* 0xfffffffc00f82947 */
        /*00a0*/               @P4 STG.E.128 desc[UR4][R2.64], R4 ;    /* 0x0000000402004986 */
        /*00b0*/               @P3 BRA 0x20 ;                          /* 0xfffffffc00d83947 */
        /*00c0*/                   EXIT ;                              /* 0x000000000000794d */
        /*00d0*/                   BRA 0xd0;                           /* 0xfffffffc00fc7947 */
        /*00e0*/                   WARPSYNC.ALL ;                      /* 0x0000000000007348 */
        /*00f0*/                   BRA 0x40 ;                          /* 0xfffffffc00507947 */
        /*0100*/                   RET.REL.NODEC R2 0x0 ;              /* 0xfffffffc02bc7950 */
"""


def main():
    functions = sass.functions(LISTING)
    assert list(functions) == ["_Z4sumsv"] and len(functions["_Z4sumsv"]) == 17, functions
    kernel = sass.Kernel(functions["_Z4sumsv"])
    assert {entry: len(body) for entry, body in kernel.loops.items()} == {0x20: 6, 0x80: 1}, kernel.loops
    assert kernel.inner(0x20) == [0x80]
    # The load, BRA.DIV, BRA, FMUL, the store and BRA; not the way through the call, nor that of lanes apart.
    assert kernel.alone(0x20) == sass.Count(0, 16, 16, 2, 0, 0, 6), kernel.alone(0x20)
    # Of eight frames with a byte an element, four elements are eight loads of the loop inside.
    server = instructions.Hot("sums", "sums", "sums", 12, ("stored", 4), frame_bytes=1)
    assert instructions.hot(functions["_Z4sumsv"], server) == ((6 + 8 * 2) / 4, 4), instructions.hot(
        functions["_Z4sumsv"], server)
    print("1 passed, 0 failed")


main()
