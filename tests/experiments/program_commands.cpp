// The program from outside: help, lists, and one clear message with exit code 2 for whatever cannot be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/training/backend.hpp"
#include "experiments/program/products/catalogue.hpp"
#include "experiments/settings/run_config.hpp"
#include "tests/experiments/program_rig.hpp"
#include "tests/support/source_tree.hpp"

namespace trigram {
namespace {

using ::testing::HasSubstr;

struct Refused {
  const char* arguments;
  const char* message;
};

class RefusedCommand : public ::testing::TestWithParam<Refused> {};

TEST_P(RefusedCommand, SaysWhyOnOneLineAndEndsWith2) {
  const Scratch scratch;
  const Ended ended =
      program(std::string(GetParam().arguments) +
              (std::string(GetParam().arguments).starts_with("run") ? " --out " + (scratch / "out").string() : ""));
  EXPECT_EQ(ended.code, 2) << ended.text;
  EXPECT_THAT(ended.text, HasSubstr(GetParam().message));
  EXPECT_EQ(std::count(ended.text.begin(), ended.text.end(), '\n'), 1) << ended.text;
  EXPECT_FALSE(std::filesystem::exists(scratch / "out")) << "what is refused leaves nothing";
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedCommand,
    ::testing::Values(
        Refused{"fly", "unknown subcommand 'fly'"}, Refused{"runn", "did you mean 'run'?"},
        Refused{"run --stpes 2", "has no flag '--stpes' (did you mean '--steps'?)"},
        Refused{"study time_to_loss --seed 5", "time_to_loss.cfg sweeps it; leave it out, or change [sweep] there"},
        Refused{"run --lr=", "trigram run: --lr='' is no value; give one, or leave the flag out"},
        Refused{"run --algorithm 'decentralized:mix=no\nname'", "mix=no\\nname is not before or after"},
        Refused{"run --workload 'mlp:data=(idx:train_images=a,train_labels=b,test_images=c,test_labels=d)'",
                "data set 'idx': a: cannot be opened: No such file or directory"},
        Refused{"run --steps 10K", "steps=10K is not a whole number"},
        Refused{"run --cluster two_by_for", "did you mean 'two_by_four'?"},
        Refused{"run --cluster two_by_four:nic_bandwith=1Gbps", "did you mean 'nic_bandwidth'?"},
        Refused{"run --algorithm qsdg", "unknown algorithm 'qsdg' (did you mean 'qsgd'?)"},
        Refused{"run --profile vgg6", "did you mean 'vgg16'?"},
        Refused{"run --algorithm \"$(printf 'a\\033[2Jb')\"", "unknown algorithm 'a\\x1b[2Jb'"},
        Refused{"run --lanes 1000000", "lanes=1000000 is not a whole number from 1 to 1024"},
        Refused{"run --lr inf", "lr=inf is not a number"}, Refused{"run --bucket-size 1e19B", "more than 1.153e+06TB"},
        Refused{"run --workload mlp:hidden=1048576x1048576", "a network of"},
        Refused{"run --global-batch 1000000000 --workload mlp:hidden=1000", "weights, gradients and activations"},
        Refused{"run --cluster two_by_four:nodes=65536,gpus_per_node=1024", "67108864 simulated ranks"},
        Refused{"run --workload 'mlp:data=(csv:train=/dev/zero,test=/dev/zero)'", "/dev/zero: is no regular file"},
        Refused{"bench --factor 1.0000000001", "sizes; at most"}, Refused{"bench --min-size 8x", "'8x' is no quantity"},
        Refused{"run --wings 2", "--wings"}, Refused{"run --steps ten", "steps=ten is not a whole number"},
        Refused{"run --steps 1 --steps 2", "steps"},
        Refused{"run here", "trigram run: 'here' is a word without a flag; trigram run --help shows"},
        Refused{"run --cluster moon", "unknown cluster 'moon'"}, Refused{"run --cluster ./none.cfg", "none.cfg"},
        Refused{"run --bucket-size 10", "10"}, Refused{"run --bucket-size 10furlongs", "10furlongs"},
        Refused{"run --hierarchy pyramid", "pyramid"}, Refused{"run --record some", "neither rank0 nor all"},
        Refused{"run --ranks -3", "-3"}, Refused{"run --config none.cfg", "none.cfg"},
        Refused{"list birds", "trigram list: 'birds' is no kind, and nothing has that name"},
        Refused{"list algorithm", "'algorithm' is no kind, and nothing has that name (did you mean 'algorithms'?)"},
        Refused{"list qsdg", "(did you mean 'qsgd'?)"}, Refused{"list birds qsgd", "unknown kind 'birds'"},
        Refused{"list codecs local_sgd", "unknown name of codecs 'local_sgd'"},
        Refused{"list codecs qsgd here", "'here' is a word without a flag, behind KIND NAME"},
        Refused{"study", "name a study"}, Refused{"study moon", "unknown study 'moon'"},
        Refused{"bench --op fly", "unknown operation 'fly'"}, Refused{"bench --factor 1", "would never reach max-size"},
        Refused{"bench --min-size 1MiB --max-size 1KiB", "no sizes from"},
        Refused{"calibrate --factor 1", "would never reach max-size"}, Refused{"calibrate --rounds 0", "rounds=0"},
        Refused{"calibrate --min-size 1MiB --max-size 1MiB", "fit no line"},
        Refused{"calibrate --out /nowhere/at/all.cfg", "/nowhere/at/all.cfg"},
        Refused{"calibrate --backend moon", "unknown backend 'moon'"}, Refused{"check", "which product?"},
        Refused{"check qsgd", "say which by --kind algorithm or --kind codec"},
        Refused{"check moon", "unknown product 'moon'"}, Refused{"check ring --kind moon", "unknown kind 'moon'"},
        Refused{"check ring --kind codec", "unknown codec 'ring'"},
        Refused{"check local_sgd:every=often", "every=often is not a whole number"},
        Refused{"bench --out /dev/null", "'/dev/null': it is a device; only a regular file is replaced"},
        Refused{"calibrate --out /dev/null", "'/dev/null': it is a device; only a regular file is replaced"},
        Refused{"run --workload quadratic:\xff",
                R"(word 3 of the command line, 'quadratic:\xff', holds bytes that are no UTF-8)"},
        Refused{"new algorithm qsgd", "trigram new: there is algorithm 'qsgd' already; choose another name"},
        Refused{"new codec qsgd", "trigram new: there is codec 'cpu/qsgd' already; choose another name"},
        Refused{"new cluster two_by_four", "trigram new: there is cluster 'two_by_four' already; choose another name"},
        Refused{"plot", "name the folder of a run or of a study"}, Refused{"plot /", "neither run.json nor study.json"},
        Refused{"plot / / /nowhere", "'/' holds neither run.json"},
        Refused{"plot / --formats png,gif", "'gif' is no format of pictures; there are png, svg and pdf"},
        Refused{"plot / --formats=,", "'' is no format of pictures"}, Refused{"plot / --columns 3", "columns=3"}));

TEST(Command, MoreWeightsThanAnEvaluationCanCompareAreRefused) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "a sanitizer needs the address space";
#endif
  if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  // 32 million weights: two ranks' weights and gradients are 512 MB, with the copies of an evaluation 1.5 GB.
  const Scratch scratch;
  std::string row = "1";
  for (int column = 0; column < 1'000'000; ++column) row += ",1";
  const std::string file = scratch.file("wide.csv", row + "\n" + row + "\n").string();
  const Ended ended =
      shell("ulimit -v 1500000; " + program_path() + " run --workload 'mlp:data=(csv:train=" + file + ",test=" + file +
            ")' --ranks 2 --steps 1 --global-batch 2 --out " + (scratch / "out").string() + " 2>&1");
  EXPECT_EQ(ended.code, 2) << ended.text;
  EXPECT_THAT(ended.text, HasSubstr("and what an evaluation compares, would take about 1.5"));
}

TEST(Command, HelpNamesEveryFlagWithItsDefaultAndAnExample) {
  const Ended ended = program("run --help");
  EXPECT_EQ(ended.code, 0);
  for (const Params::Declared& flag : run_flags()) {
    EXPECT_THAT(ended.text, HasSubstr("--" + flag.key));
    const std::string fallback = flag.fallback.empty() ? "--" : "[" + flag.fallback + "]";
    EXPECT_THAT(ended.text, HasSubstr(fallback));
  }
  EXPECT_THAT(ended.text, HasSubstr("example: trigram run"));
  for (const std::string subcommand : {"study", "bench", "calibrate", "check", "list", "tune", "plot", "report"}) {
    const std::string text = program(subcommand + " --help").text;
    const std::size_t example = text.find("\nexample: ");
    ASSERT_NE(example, std::string::npos) << subcommand;
    EXPECT_THAT(text.substr(example), HasSubstr("trigram " + subcommand));
  }
}

TEST(Command, HelpEndsWithThePlaceOfThePageOfItsSubcommand) {
  const std::string subcommands = program("--help").text;
  for (const std::string subcommand :
       {"run", "study", "bench", "calibrate", "check", "list", "tune", "plot", "report", "new"}) {
    ASSERT_THAT(subcommands, HasSubstr("\n  " + subcommand + " "));
    const std::string text = program(subcommand + " --help").text, page = "docs/reference/" + subcommand + ".md";
    EXPECT_THAT(text, ::testing::EndsWith("\nreference page: " + (source_tree() / page).string() + "\n"));
    EXPECT_THAT(text_of(source_tree() / page), ::testing::StartsWith("# trigram " + subcommand + "\n"));
  }
}

TEST(Command, HelpAsJsonHasEveryFlagAsHelpHasIt) {
  const auto help = nlohmann::json::parse(program("run --help=json").text);
  EXPECT_EQ(help["example"].get<std::string>().substr(0, 12), "trigram run ");
  ASSERT_EQ(help["flags"].size(), run_flags().size() + 2);  // those of --uncertainty, which are about a run
  for (std::size_t i = 0; i < run_flags().size(); ++i) {
    const Params::Declared& flag = run_flags()[i];
    EXPECT_EQ(help["flags"][i], (nlohmann::json{{"key", flag.key},
                                                {"type", flag.type},
                                                {"default", flag.fallback},
                                                {"description", flag.description},
                                                {"group", flag.group}}));
  }
  EXPECT_EQ(nlohmann::json::parse(program("study --help=json").text)["positional"]["words"], "STUDY");
}

TEST(Command, CheckPrintsCostsAndSaysWhatDoesNotHold) {
  // Two buckets on a ring of four, 2·3 rounds each.
  const Ended held = program("check local_sgd:every=3 --ranks 4 --fidelity fluid");
  EXPECT_EQ(held.code, 0) << held.text;
  EXPECT_THAT(held.text, HasSubstr("12 rounds, 140 bytes"));
  EXPECT_THAT(held.text, HasSubstr("algorithm local_sgd:every=3 holds what it declares\n"));
  const Ended broken = program("check local_sgd:every=300 --ranks 2");
  EXPECT_EQ(broken.code, 1) << broken.text;
  EXPECT_THAT(broken.text, HasSubstr("communication: no exchange is declared in the first 256 steps"));
  EXPECT_THAT(program("check top_k:k=3").text, HasSubstr("codec top_k:k=3 holds what it declares\n"));
  EXPECT_THAT(program("check hypercube").text, HasSubstr("topology hypercube holds what it declares\n"));
}

TEST(Catalogue, SaysWhatItLacksOfAnAlgorithmThatHasAFile) {
  const Scratch tree;
  std::filesystem::create_directory(tree / "algorithms");
  for (const char* name : {"mine", "listed", "known"}) tree.file(std::string("algorithms/") + name + ".cpp", "");
  tree.file("algorithms/README.md", "# Algorithms\n## known\n| Algorithm | a |\n| `known` | x |\n| `listed` | x |\n");
  const auto said = [&](const std::string& name) { return missing_in_catalogue(tree.path(), name); };
  EXPECT_EQ(said("mine"), "algorithms/README.md has no row in the table of options and no section for 'mine' yet\n");
  EXPECT_EQ(said("listed"), "algorithms/README.md has no section for 'listed' yet\n");
  EXPECT_EQ(said("known"), "");
  EXPECT_EQ(said("of_another_tree"), "");
  EXPECT_EQ(missing_in_catalogue(tree / "installed", "mine"), "");
}

TEST(Command, FailsWhereItsOutputIsLost) {
  const Ended full = shell(program_path() + " --version 2>&1 >/dev/full");
  EXPECT_EQ(full.code, 1);
  EXPECT_EQ(full.text, "trigram: cannot print all to standard output: No space left on device\n");
  const Scratch scratch;
  const Ended closed =
      shell(program_path() + " bench --max-size 4KiB --out " + (scratch / "b.csv").string() + " 2>&1 >&-");
  EXPECT_EQ(closed.code, 1);
  EXPECT_THAT(closed.text, HasSubstr("cannot print all to standard output"));
  EXPECT_THAT(text_of(scratch / "b.csv"), ::testing::StartsWith("size (B),count,type"));
}

TEST(Command, ListShowsEveryKind) {
  const Ended ended = program("list");
  EXPECT_EQ(ended.code, 0) << ended.text;
  for (const char* word : {"backends", "algorithms", "codecs", "topologies", "workloads", "operations", "profiles",
                           "optimizers", "schedules", "all-reduces", "clusters", "systems", "studies"}) {
    EXPECT_THAT(ended.text, HasSubstr(std::string(word) + "\n"));
  }
  EXPECT_THAT(program("list profiles").text, ::testing::AllOf(HasSubstr("bert_large  "), HasSubstr("vgg16  ")));
  EXPECT_THAT(program("list studies").text, HasSubstr("bagua_bandwidth  "));
  EXPECT_THAT(program("list clusters --json").text, HasSubstr(R"("name": "two_by_four")"));
  EXPECT_THAT(program("list --help").text, HasSubstr("KIND is backends, algorithms, "));
  EXPECT_THAT(program("study --help").text,
              ::testing::AllOf(HasSubstr("the path of a study file"), HasSubstr("studies/README.md")));
}

TEST(Command, ListHasALineForEachAndTheRestByName) {
  const std::string lines = program("list algorithms").text;
  EXPECT_THAT(lines, ::testing::AllOf(::testing::StartsWith("algorithms\n"), HasSubstr("\n☰  all_reduce  "),
                                      ::testing::Not(HasSubstr("\n   ")),
                                      ::testing::EndsWith("trigram list NAME shows one with its parameters\n")));
  const auto whole = ::testing::AllOf(::testing::StartsWith("algorithms\n☰  local_sgd  "), HasSubstr("\n      every="),
                                      HasSubstr("\n      when: "), HasSubstr("options: overlap"));
  EXPECT_THAT(program("list algorithms local_sgd").text, whole);
  EXPECT_THAT(program("list local_sgd").text, whole);
  EXPECT_THAT(program("list qsgd").text,
              ::testing::AllOf(::testing::StartsWith("algorithms\n☲  qsgd  "), HasSubstr("\ncodecs\n  cpu/qsgd  ")));
  EXPECT_THAT(program("list vgg16 --json").text,
              ::testing::AllOf(HasSubstr("\"workloads\": ["), HasSubstr("\"profiles\": ["),
                               ::testing::Not(HasSubstr("codecs"))));
}

TEST(Command, HelpOfARunShowsItsFlagsInGroups) {
  const std::string help = program("run --help").text;
  const auto at = [&](const std::string& text) { return help.find("\n" + text); };
  const std::vector<std::string> in_order = {
      "flags:\n  --help", "what is trained:\n  --workload ",      "  --lr ",         "where it runs:\n  --backend ",
      "  --ranks ",       "how it communicates:\n  --algorithm ", "  --all-reduce ", "what is kept:\n  --record ",
      "  --resume "};
  for (const std::string& text : in_order) ASSERT_NE(at(text), std::string::npos) << text << help;
  EXPECT_TRUE(std::ranges::is_sorted(in_order, {}, at)) << help;
  for (const Params::Declared& flag : run_flags()) EXPECT_NE(flag.group.empty(), flag.key != "config") << flag.key;
}

TEST(EvaluationsByTime, ThatWouldBeTooManyEndTheRun) {
  const Scratch scratch;
  const std::string run = "run --out " + (scratch / "out").string() + " ";
  const Ended dense = program(run + "--evaluate-seconds 1ns");
  EXPECT_EQ(dense.code, 1);
  EXPECT_THAT(dense.text, HasSubstr("evaluations every 1ns would be more than 10000"));
  const Ended slow = program(run + "--ranks 2 --steps 2 --profile vgg16:compute=45s --evaluate-seconds 1ms");
  EXPECT_EQ(slow.code, 1);
  EXPECT_THAT(slow.text,
              HasSubstr("evaluations every 1ms would be more than 10000 after 45s of simulated time; ask for fewer"));
}

}  // namespace
}  // namespace trigram
