// Any image data set in IDX files, by path.
#include "core/values/error.hpp"
#include "experiments/workloads/data/idx_images.hpp"

namespace trigram {
namespace {

class IdxFiles : public DataSource {
 public:
  explicit IdxFiles(Params& params)
      : paths_{params.get("train_images", "", "IDX file of training images, .gz or plain"),
               params.get("train_labels", "", "IDX file of their labels"),
               params.get("test_images", "", "IDX file of test images"),
               params.get("test_labels", "", "IDX file of their labels")} {}

  Dataset read() const override {
    for (const std::string* path :
         {&paths_.train_images, &paths_.train_labels, &paths_.test_images, &paths_.test_labels}) {
      require(!path->empty(), "give train_images, train_labels, test_images and test_labels");
    }
    return read_idx_images("idx", paths_);
  }

 private:
  IdxPaths paths_;
};

const DataSources::Registration registered("idx", {"images in IDX files (MNIST's format), by path"},
                                           [](Params& params) { return std::make_unique<IdxFiles>(params); });

}  // namespace
}  // namespace trigram
