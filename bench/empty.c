// Nothing at all: preloaded, it shows what preloading costs by itself. bench/start compares Fallow
// with it.

typedef int empty_object;
