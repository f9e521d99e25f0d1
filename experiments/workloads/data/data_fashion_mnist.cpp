// Fashion-MNIST, from Debian's package dataset-fashion-mnist or any folder with its four files.
#include <filesystem>

#include "core/values/error.hpp"
#include "experiments/workloads/data/idx_images.hpp"

namespace trigram {
namespace {

constexpr const char* package_folder = "/usr/share/datasets/fashion-mnist";

/// 60,000 images of 28×28 to train and 10,000 to test, in ten classes.
class FashionMnist : public DataSource {
 public:
  explicit FashionMnist(Params& params) : folder_(params.get("folder", package_folder, "holds the four .gz files")) {}

  Dataset read() const override {
    return read_idx_images("fashion_mnist", {file("train-images-idx3-ubyte.gz"), file("train-labels-idx1-ubyte.gz"),
                                             file("t10k-images-idx3-ubyte.gz"), file("t10k-labels-idx1-ubyte.gz")});
  }

 private:
  std::string file(const char* name) const {
    const std::filesystem::path path = std::filesystem::path(folder_) / name;
    std::error_code failed;
    require(std::filesystem::exists(path, failed),
            path.string() +
                " does not exist; install Debian's package dataset-fashion-mnist, or name another folder with "
                "data=(fashion_mnist:folder=DIR)");
    return path.string();
  }

  std::string folder_;
};

const DataSources::Registration registered("fashion_mnist",
                                           {"clothes, 70,000 of 28x28: 60,000 to train, 10,000 to test",
                                            "Xiao et al., Fashion-MNIST, 2017, arXiv:1708.07747"},
                                           [](Params& params) { return std::make_unique<FashionMnist>(params); });

}  // namespace
}  // namespace trigram
