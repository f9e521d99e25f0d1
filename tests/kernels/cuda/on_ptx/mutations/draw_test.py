"""draw.py draws the same places of two builds, in whatever order nvcc wrote them, and tells the instances of a template apart."""

import sys

sys.dont_write_bytecode = True

from draw import Place, in_any_build, in_order

# Two instances of a template, and a kernel behind whose namespace's number stand letters that are digits of hexadecimal numbers.
NAMES = ["_ZN7trigram4cuda45_GLOBAL__N__{0}_12_some_file_cu_{1}4overINS1_4RuleELi4EEEvT_Pf(",
         "_ZN7trigram4cuda45_GLOBAL__N__{0}_12_some_file_cu_{1}4overINS1_4RuleELi12345678EEEvT_Pf(",
         "_ZN7trigram51_GLOBAL__N__{0}_13_layer_norm_cu_{1}_{2}11add_columnsEPKfS2_llS2_S2_PfS3_("]
ONE_BUILD = [name.format("8c0b90ab", "13fca340", 8236) for name in NAMES]
ANOTHER = [name.format("f06ab570", "380ddcb5", 96) for name in NAMES]
SEEDS = range(1, 9)


def drawn(kernels, seed, once, file="kernels/cuda/some_file.cu"):
    """What is tried of a line, by what no build changes."""
    places = [Place("turned_comparisons", kernel, number, "setp.gt.f32", file, "if (x > y)")
              for kernel in kernels for number in range(3)]
    return [(in_any_build(place.kernel), place.number) for place in in_order(places, seed, once)[1]]


def main():
    wrong = []
    for seed in SEEDS:
        for once in (True, False):
            one = drawn(ONE_BUILD, seed, once)
            if drawn(ANOTHER, seed, once) != one:
                wrong.append(f"another build draws other places by seed {seed}")
            if drawn(ONE_BUILD[::-1], seed, once) != one:
                wrong.append(f"kernels in another order are drawn otherwise by seed {seed}")
            if drawn(ONE_BUILD, seed, once, "kernels/cuda/codecs/some_file.cu") != one:
                wrong.append(f"a file in another room is drawn otherwise by seed {seed}")
    if len({tuple(drawn(ONE_BUILD, seed, once=True)) for seed in SEEDS}) == 1:
        wrong.append("every seed draws the same")
    if in_any_build(ONE_BUILD[0]) == in_any_build(ONE_BUILD[1]):
        wrong.append("two instances of a template have one name")
    if [in_any_build(name) for name in ANOTHER] != [in_any_build(name) for name in ONE_BUILD]:
        wrong.append("a kernel has another name in another build")
    print("\n".join(wrong) or "the same places are drawn from every build")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
