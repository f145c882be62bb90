// Graphs of CUDA's runtime: work that is recorded, node by node or from a stream, and done later in
// an order that keeps the dependencies. It is compiled behind runtime.cpp, as a part of it.

struct CUgraphNode_st {
  CUgraph_st *graph;
  enum cudaGraphNodeType type;
  Work work;
  std::vector<CUgraphNode_st *> after;
};

// The nodes in an order that keeps the dependencies, each with its work.
struct CUgraphExec_st {
  std::vector<std::pair<CUgraphNode_st *, Work>> steps;
};

static cudaError_t add_node(cudaGraphNode_t *made, cudaGraph_t graph, const cudaGraphNode_t *after,
                            size_t count, enum cudaGraphNodeType type, Work work) {
  if (!graph) return done(cudaErrorInvalidValue);
  auto *node = new CUgraphNode_st{graph, type, work, {after, after + count}};
  graph->nodes.push_back(node);
  if (made) *made = node;
  return cudaSuccess;
}

static void record(CUgraph_st *graph, enum cudaGraphNodeType type, Work work) {
  CUgraphNode_st *before = graph->nodes.empty() ? nullptr : graph->nodes.back();
  add_node(nullptr, graph, &before, before ? 1 : 0, type, work);
}

static void visit(CUgraphNode_st *node, std::set<CUgraphNode_st *> &seen, CUgraphExec_st *to) {
  if (!seen.insert(node).second) return;
  for (CUgraphNode_st *one : node->after) visit(one, seen, to);
  to->steps.push_back({node, node->work});
}

static CUgraphExec_st *steps_of(cudaGraph_t graph) {
  auto *made = new CUgraphExec_st;
  std::set<CUgraphNode_st *> seen;
  for (CUgraphNode_st *node : graph->nodes) visit(node, seen, made);
  return made;
}

static cudaError_t run_steps(const CUgraphExec_st *graph) {
  for (auto &step : graph->steps) {
    cudaError_t error = step.second();
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

static cudaError_t launch_work(const struct cudaKernelNodeParams *asked, Work *work) {
  if (!asked || asked->extra) {
    mistake("a graph", "the arguments of a kernel are given as kernelParams");
    return done(cudaErrorInvalidValue);
  }
  return prepare(asked->func, asked->gridDim, asked->blockDim, asked->kernelParams,
                 asked->sharedMemBytes, false, work);
}

static Work fill_work(const struct cudaMemsetParams &asked) {
  return [=] {
    size_t height = asked.height ? asked.height : 1, pitch = height > 1 ? asked.pitch : 0;
    size_t row = asked.width * asked.elementSize;
    if (asked.elementSize == 1)
      return cudaMemset2D(asked.dst, pitch ? pitch : row, int(asked.value), row, height);
    for (size_t at = 0; at < height; at++)
      for (size_t number = 0; number < asked.width; number++) {
        char *to = (char *)asked.dst + at * pitch + number * asked.elementSize;
        cudaError_t error = cudaMemcpy(to, &asked.value, asked.elementSize, cudaMemcpyHostToDevice);
        if (error != cudaSuccess) return error;
      }
    return cudaSuccess;
  };
}

// Graphs and their nodes

API(cudaGraphCreate, cudaGraph_t *graph, unsigned int) {
  *graph = new CUgraph_st;
  return cudaSuccess;
}
API(cudaGraphAddKernelNode, cudaGraphNode_t *made, cudaGraph_t graph, const cudaGraphNode_t *after,
    size_t count, const struct cudaKernelNodeParams *asked) {
  BEGIN;
  Work work;
  cudaError_t error = launch_work(asked, &work);
  if (error != cudaSuccess) return error;
  return add_node(made, graph, after, count, cudaGraphNodeTypeKernel, work);
}
API(cudaGraphAddMemcpyNode, cudaGraphNode_t *made, cudaGraph_t graph, const cudaGraphNode_t *after,
    size_t count, const struct cudaMemcpy3DParms *asked) {
  struct cudaMemcpy3DParms copied = *asked;
  return add_node(made, graph, after, count, cudaGraphNodeTypeMemcpy,
                  [=] { return cudaMemcpy3D(&copied); });
}
API(cudaGraphAddMemcpyNode1D, cudaGraphNode_t *made, cudaGraph_t graph,
    const cudaGraphNode_t *after, size_t count, void *to, const void *from, size_t bytes,
    enum cudaMemcpyKind kind) {
  return add_node(made, graph, after, count, cudaGraphNodeTypeMemcpy,
                  [=] { return cudaMemcpy(to, from, bytes, kind); });
}
API(cudaGraphAddMemsetNode, cudaGraphNode_t *made, cudaGraph_t graph, const cudaGraphNode_t *after,
    size_t count, const struct cudaMemsetParams *asked) {
  return add_node(made, graph, after, count, cudaGraphNodeTypeMemset, fill_work(*asked));
}
API(cudaGraphAddHostNode, cudaGraphNode_t *made, cudaGraph_t graph, const cudaGraphNode_t *after,
    size_t count, const struct cudaHostNodeParams *asked) {
  struct cudaHostNodeParams copied = *asked;
  return add_node(made, graph, after, count, cudaGraphNodeTypeHost,
                  [=] { return cudaLaunchHostFunc(nullptr, copied.fn, copied.userData); });
}
API(cudaGraphAddEmptyNode, cudaGraphNode_t *made, cudaGraph_t graph, const cudaGraphNode_t *after,
    size_t count) {
  return add_node(made, graph, after, count, cudaGraphNodeTypeEmpty, [] { return cudaSuccess; });
}
API(cudaGraphAddChildGraphNode, cudaGraphNode_t *made, cudaGraph_t graph,
    const cudaGraphNode_t *after, size_t count, cudaGraph_t child) {
  CUgraphExec_st *steps = steps_of(child);
  return add_node(made, graph, after, count, cudaGraphNodeTypeGraph,
                  [=] { return run_steps(steps); });
}
// The memory of a graph is there from the making of its node on. A launch of the graph gives back
// what was freed since, at the same address.
API(cudaGraphAddMemAllocNode, cudaGraphNode_t *made, cudaGraph_t graph,
    const cudaGraphNode_t *after, size_t count, struct cudaMemAllocNodeParams *asked) {
  cudaError_t error = cudaMalloc(&asked->dptr, asked->bytesize);
  if (error != cudaSuccess) return error;
  return add_node(made, graph, after, count, cudaGraphNodeTypeMemAlloc,
                  again(asked->dptr, asked->bytesize));
}
API(cudaGraphAddMemFreeNode, cudaGraphNode_t *made, cudaGraph_t graph,
    const cudaGraphNode_t *after, size_t count, void *pointer) {
  return add_node(made, graph, after, count, cudaGraphNodeTypeMemFree,
                  [=] { return cudaFree(pointer); });
}
API(cudaDeviceGraphMemTrim, int) {
  BEGIN;
  return cudaSuccess;
}
API(cudaDeviceGetGraphMemAttribute, int, enum cudaGraphMemAttributeType, void *value) {
  BEGIN;
  *(uint64_t *)value = state().used;
  return cudaSuccess;
}
#if CUDART_VERSION >= 13000
API(cudaGraphAddDependencies, cudaGraph_t, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
    const cudaGraphEdgeData *, size_t count) {
#else
API(cudaGraphAddDependencies, cudaGraph_t, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
    size_t count) {
#endif
  for (size_t number = 0; number < count; number++) to[number]->after.push_back(from[number]);
  return cudaSuccess;
}
API(cudaGraphNodeGetType, cudaGraphNode_t node, enum cudaGraphNodeType *type) {
  *type = node->type;
  return cudaSuccess;
}
API(cudaGraphGetNodes, cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
  if (nodes)
    for (size_t number = 0; number < *count; number++)
      nodes[number] = number < graph->nodes.size() ? graph->nodes[number] : nullptr;
  if (!nodes || *count > graph->nodes.size()) *count = graph->nodes.size();
  return cudaSuccess;
}
API(cudaGraphClone, cudaGraph_t *made, cudaGraph_t graph) {
  *made = new CUgraph_st;
  std::map<CUgraphNode_st *, CUgraphNode_st *> copies;
  for (CUgraphNode_st *node : graph->nodes) {
    copies[node] = new CUgraphNode_st(*node);
    copies[node]->graph = *made;
    (*made)->nodes.push_back(copies[node]);
  }
  for (CUgraphNode_st *node : (*made)->nodes)
    for (CUgraphNode_st *&one : node->after) one = copies[one];
  return cudaSuccess;
}
// Graphs stay: streams, events and what was instantiated may name them and their nodes.
API(cudaGraphDestroy, cudaGraph_t) { return cudaSuccess; }

// Launches of graphs

API(cudaGraphInstantiate, cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long) {
  if (!graph) return done(cudaErrorInvalidValue);
  *made = steps_of(graph);
  return cudaSuccess;
}
API(cudaGraphInstantiateWithFlags, cudaGraphExec_t *made, cudaGraph_t graph,
    unsigned long long flags) {
  return cudaGraphInstantiate(made, graph, flags);
}
API(cudaGraphExecDestroy, cudaGraphExec_t) { return cudaSuccess; }
API(cudaGraphUpload, cudaGraphExec_t, cudaStream_t) {
  BEGIN;
  return cudaSuccess;
}
API(cudaGraphLaunch, cudaGraphExec_t graph, cudaStream_t stream) {
  if (!graph) return done(cudaErrorInvalidValue);
  return ordered(stream, cudaGraphNodeTypeGraph, [=] { return run_steps(graph); });
}
API(cudaGraphExecKernelNodeSetParams, cudaGraphExec_t graph, cudaGraphNode_t node,
    const struct cudaKernelNodeParams *asked) {
  BEGIN;
  for (auto &step : graph->steps)
    if (step.first == node) return launch_work(asked, &step.second);
  return done(cudaErrorInvalidValue);
}
API(cudaGraphExecUpdate, cudaGraphExec_t graph, cudaGraph_t from,
    cudaGraphExecUpdateResultInfo *result) {
  CUgraphExec_st *made = steps_of(from);
  bool equal = made->steps.size() == graph->steps.size();
  for (size_t number = 0; equal && number < made->steps.size(); number++)
    equal = made->steps[number].first->type == graph->steps[number].first->type;
  if (result) {
    *result = {};
    result->result = equal ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
  }
  if (!equal) return done(cudaErrorGraphExecUpdateFailure);
  graph->steps = made->steps;
  return cudaSuccess;
}

// Capture: the work of a stream is recorded. Another stream joins when it waits for an event of it.

API(cudaStreamBeginCapture, cudaStream_t stream, enum cudaStreamCaptureMode) {
  BEGIN;
  if (uintptr_t(stream) <= 2) return done(cudaErrorStreamCaptureUnsupported);
  if (captured(stream)) return done(cudaErrorIllegalState);
  stream->graph = new CUgraph_st;
  stream->graph->capturing = true;
  return cudaSuccess;
}
API(cudaStreamEndCapture, cudaStream_t stream, cudaGraph_t *graph) {
  BEGIN;
  *graph = captured(stream);
  if (!*graph) return done(cudaErrorIllegalState);
  (*graph)->capturing = false;
  return cudaSuccess;
}
