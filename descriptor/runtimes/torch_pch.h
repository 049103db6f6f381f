// LibTorch costs every translation unit about 15 s: it is compiled once, here.
#include <torch/script.h>
#include <torch/torch.h>
