// Runs the program as a person would, in a folder that disappears.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/training/backend.hpp"

namespace trigram {

/// A folder for one test.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "trigram_test_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  std::filesystem::path file(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The cells of each row of a table, below its header.
inline std::vector<std::vector<std::string>> rows_of(const std::filesystem::path& csv) {
  std::istringstream table(text_of(csv));
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream row(line);
    rows.emplace_back();
    for (std::string cell; std::getline(row, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

/// What a command gave: exit code, and both streams in one text.
struct Ended {
  int code = -1;
  std::string text;
};

/// The program's file.
std::string program_path();

/// What a line of the shell prints and ends with.
inline Ended shell(const std::string& line) {
  FILE* pipe = ::popen(line.c_str(), "r");
  Ended ended;
  char part[4096];
  for (std::size_t count = 0; (count = std::fread(part, 1, sizeof part, pipe)) > 0;) ended.text.append(part, count);
  const int status = ::pclose(pipe);
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

/// Whether the program can draw pictures here.
inline bool has_matplotlib() {
  return shell("/usr/bin/python3 -I -c 'import matplotlib, fastjsonschema' 2>&1").code == 0;
}

/// `environment` is added to this process's: "RANK=1 WORLD_SIZE=2".
inline Ended program(const std::string& arguments, const std::string& environment = "") {
  return shell("env " + environment + " " + program_path() + " " + arguments + " 2>&1");
}

/// Runs of the simulator in a folder that disappears; a build without one skips them.
class Simulating : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  }
  std::string path(const std::string& name) const { return (scratch / name).string(); }
  nlohmann::json json_of(const std::string& name) const { return nlohmann::json::parse(text_of(scratch / name)); }
  /// What a run has written of itself.
  nlohmann::json result(const std::string& out = "out") const { return json_of(out + "/run.json"); }

  Scratch scratch;
};

}  // namespace trigram
