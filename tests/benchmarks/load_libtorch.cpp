// A program that loads LibTorch and uses it once: what any program of LibTorch pays before it does anything of its own.
#include <torch/torch.h>

int main() { return torch::ones({1}).item<int>() - 1; }
