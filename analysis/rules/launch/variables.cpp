#include "rules/launch/variables.hpp"

#include <algorithm>
#include <iterator>

namespace stepzero::rules::launch {

namespace {

constexpr std::string_view slow_debug = "each kernel is waited for; take it out when the error is found";

constexpr KnownVariable all[] = {
    {"CUDA_VISIBLE_DEVICES", "", "", ""}, {"CUDA_DEVICE_ORDER", "FASTEST_FIRST|PCI_BUS_ID", "", ""}, {"CUDA_LAUNCH_BLOCKING", "0|1", "", slow_debug},
    {"CUDA_DEVICE_MAX_CONNECTIONS", "", "", ""}, {"CUDA_MODULE_LOADING", "EAGER|LAZY|DEFAULT", "", ""}, {"CUDA_CACHE_PATH", "", "", ""}, {"CUDA_HOME", "", "", ""}, {"CUDA_PATH", "", "", ""},
    {"CUDA_MPS_PIPE_DIRECTORY", "", "", ""}, {"CUDA_MPS_LOG_DIRECTORY", "", "", ""}, {"CUDA_TOOLKIT_PATH", "", "", ""}, {"CUDA_ROOT", "", "", ""}, {"CUDA_BIN_PATH", "", "", ""}, {"CUDA_VERSION", "", "", ""},
    {"OMP_NUM_THREADS", "", "", ""}, {"OMP_PROC_BIND", "", "", ""}, {"OMP_PLACES", "", "", ""}, {"OMP_SCHEDULE", "", "", ""}, {"OMP_DYNAMIC", "", "", ""}, {"OMP_WAIT_POLICY", "", "", ""},
    {"MASTER_ADDR", "", "", ""}, {"MASTER_PORT", "", "", ""}, {"WORLD_SIZE", "", "", ""}, {"RANK", "", "", ""}, {"LOCAL_RANK", "", "", ""},
    {"NCCL_DEBUG", "VERSION|WARN|INFO|TRACE|ABORT", "", ""}, {"NCCL_DEBUG_FILE", "", "", ""}, {"NCCL_DEBUG_SUBSYS", "", "", ""}, {"NCCL_SOCKET_IFNAME", "", "", ""}, {"NCCL_SOCKET_FAMILY", "", "", ""},
    {"NCCL_SOCKET_RETRY_CNT", "", "", ""}, {"NCCL_SOCKET_RETRY_SLEEP_MSEC", "", "", ""}, {"NCCL_SOCKET_NTHREADS", "", "", ""}, {"NCCL_NSOCKS_PERTHREAD", "", "", ""}, {"NCCL_CROSS_NIC", "", "", ""},
    {"NCCL_IB_DISABLE", "", "", "the nodes then talk over TCP, several times slower than over InfiniBand"}, {"NCCL_IB_HCA", "", "", ""}, {"NCCL_IB_TIMEOUT", "", "", ""}, {"NCCL_IB_RETRY_CNT", "", "", ""},
    {"NCCL_IB_GID_INDEX", "", "", ""}, {"NCCL_IB_ADDR_FAMILY", "", "", ""}, {"NCCL_IB_ADDR_RANGE", "", "", ""}, {"NCCL_IB_ROCE_VERSION_NUM", "", "", ""}, {"NCCL_IB_SL", "", "", ""}, {"NCCL_IB_TC", "", "", ""},
    {"NCCL_IB_FIFO_TC", "", "", ""}, {"NCCL_IB_RETURN_ASYNC_EVENTS", "", "", ""}, {"NCCL_IB_CUDA_SUPPORT", "", "", ""}, {"NCCL_IB_QPS_PER_CONNECTION", "", "", ""}, {"NCCL_IB_SPLIT_DATA_ON_QPS", "", "", ""},
    {"NCCL_IB_PCI_RELAXED_ORDERING", "", "", ""}, {"NCCL_IB_ADAPTIVE_ROUTING", "", "", ""}, {"NCCL_IB_ECE_ENABLE", "", "", ""}, {"NCCL_IB_MERGE_VFS", "", "", ""}, {"NCCL_IB_MERGE_NICS", "", "", ""},
    {"NCCL_IB_DATA_DIRECT", "", "", ""}, {"NCCL_IB_AR_THRESHOLD", "", "", ""}, {"NCCL_IB_MQP_RETRY_ALL", "", "", ""}, {"NCCL_IB_OOO_RQ", "", "", ""}, {"NCCL_IB_WARN_RAIL_LOCAL", "", "", ""},
    {"NCCL_OOB_NET_ENABLE", "", "", ""}, {"NCCL_OOB_NET_IFNAME", "", "", ""}, {"NCCL_UID_STAGGER_THRESHOLD", "", "", ""}, {"NCCL_UID_STAGGER_RATE", "", "", ""},
    {"NCCL_NET", "", "", ""}, {"NCCL_NET_PLUGIN", "", "", ""}, {"NCCL_TUNER_PLUGIN", "", "", ""}, {"NCCL_PROFILER_PLUGIN", "", "", ""}, {"NCCL_ENV_PLUGIN", "", "", ""}, {"NCCL_IGNORE_CPU_AFFINITY", "", "", ""},
    {"NCCL_CONF_FILE", "", "", ""}, {"NCCL_COMM_ID", "", "", ""}, {"NCCL_P2P_DISABLE", "", "", "the GPUs of a node then talk through the memory of the host"}, {"NCCL_P2P_LEVEL", "", "", ""}, {"NCCL_P2P_DIRECT_DISABLE", "", "", ""},
    {"NCCL_P2P_NET_CHUNKSIZE", "", "", ""}, {"NCCL_P2P_NVL_CHUNKSIZE", "", "", ""}, {"NCCL_P2P_PCI_CHUNKSIZE", "", "", ""}, {"NCCL_P2P_USE_CUDA_MEMCPY", "", "", ""}, {"NCCL_P2P_READ_ENABLE", "", "", ""},
    {"NCCL_SHM_DISABLE", "", "", ""}, {"NCCL_SHM_USE_CUDA_MEMCPY", "", "", ""}, {"NCCL_SHM_LOCALITY", "", "", ""}, {"NCCL_BUFFSIZE", "", "", ""}, {"NCCL_NTHREADS", "", "", ""}, {"NCCL_MAX_NCHANNELS", "", "", ""},
    {"NCCL_MIN_NCHANNELS", "", "", ""}, {"NCCL_MAX_CTAS", "", "", ""}, {"NCCL_MIN_CTAS", "", "", ""}, {"NCCL_CHECKS_DISABLE", "", "", ""}, {"NCCL_CHECK_POINTERS", "", "", ""}, {"NCCL_LAUNCH_MODE", "PARALLEL|GROUP", "", ""},
    {"NCCL_LAUNCH_ORDER_IMPLICIT", "", "", ""}, {"NCCL_LAUNCH_RACE_FATAL", "", "", ""}, {"NCCL_NET_GDR_LEVEL", "", "", ""}, {"NCCL_NET_GDR_READ", "", "", ""}, {"NCCL_NET_GDR_C2C", "", "", ""}, {"NCCL_NET_SHARED_BUFFERS", "", "", ""},
    {"NCCL_NET_SHARED_COMMS", "", "", ""}, {"NCCL_NET_FORCE_FLUSH", "", "", ""}, {"NCCL_NET_DISABLE_INTRA", "", "", ""}, {"NCCL_SINGLE_RING_THRESHOLD", "", "", ""}, {"NCCL_LL_THRESHOLD", "", "", ""}, {"NCCL_TREE_THRESHOLD", "", "", ""},
    {"NCCL_ALGO", "", "", ""}, {"NCCL_PROTO", "", "", ""}, {"NCCL_RINGS", "", "", ""}, {"NCCL_TOPO_FILE", "", "", ""}, {"NCCL_TOPO_DUMP_FILE", "", "", ""}, {"NCCL_GRAPH_FILE", "", "", ""}, {"NCCL_GRAPH_DUMP_FILE", "", "", ""},
    {"NCCL_NVB_DISABLE", "", "", ""}, {"NCCL_NVB_PRECONNECT", "", "", ""}, {"NCCL_PXN_DISABLE", "", "", ""}, {"NCCL_PXN_C2C", "", "", ""}, {"NCCL_P2P_PXN_LEVEL", "", "", ""}, {"NCCL_RUNTIME_CONNECT", "", "", ""},
    {"NCCL_GRAPH_REGISTER", "", "", ""}, {"NCCL_LOCAL_REGISTER", "", "", ""}, {"NCCL_LEGACY_CUDA_REGISTER", "", "", ""}, {"NCCL_SET_STACK_SIZE", "", "", ""}, {"NCCL_SET_THREAD_NAME", "", "", ""}, {"NCCL_GRAPH_MIXING_SUPPORT", "", "", ""},
    {"NCCL_DMABUF_ENABLE", "", "", ""}, {"NCCL_NVLS_ENABLE", "", "", ""}, {"NCCL_NVLS_CHUNKSIZE", "", "", ""}, {"NCCL_NVLS_NCHANNELS", "", "", ""}, {"NCCL_MNNVL_ENABLE", "", "", ""}, {"NCCL_MNNVL_UUID", "", "", ""},
    {"NCCL_MNNVL_CLIQUE_ID", "", "", ""}, {"NCCL_COLLNET_ENABLE", "", "", ""}, {"NCCL_COLLNET_NODE_THRESHOLD", "", "", ""}, {"NCCL_CUMEM_ENABLE", "", "", ""}, {"NCCL_CUMEM_HOST_ENABLE", "", "", ""}, {"NCCL_HOSTID", "", "", ""},
    {"NCCL_WORK_FIFO_DEPTH", "", "", ""}, {"NCCL_WORK_FIFO_BYTES", "", "", ""}, {"NCCL_WORK_ARGS_BYTES", "", "", ""}, {"NCCL_RAS_ENABLE", "", "", ""}, {"NCCL_RAS_ADDR", "", "", ""}, {"NCCL_RAS_TIMEOUT_FACTOR", "", "", ""},
    {"NCCL_SINGLE_PROC_MEM_REG_ENABLE", "", "", ""}, {"NCCL_WIN_ENABLE", "", "", ""}, {"NCCL_WIN_STRIDE", "", "", ""}, {"NCCL_SYM_CTAS", "", "", ""}, {"NCCL_CTA_POLICY", "", "", ""}, {"NCCL_COMM_BLOCKING", "", "", ""},
    {"NCCL_COMM_SPLIT_SHARE_RESOURCES", "", "", ""}, {"NCCL_COMM_SHRINK_SHARE_RESOURCES", "", "", ""}, {"NCCL_PROGRESS_APPENDOP_FREQ", "", "", ""}, {"NCCL_WARN_ENABLE_DEBUG_INFO", "", "", ""}, {"NCCL_CREATE_THREAD_CONTEXT", "", "", ""},
    {"NCCL_NCHANNELS_PER_NET_PEER", "", "", ""}, {"NCCL_MIN_P2P_NCHANNELS", "", "", ""}, {"NCCL_MAX_P2P_NCHANNELS", "", "", ""}, {"NCCL_NCHANNELS_PER_PEER", "", "", ""}, {"NCCL_LL128_BUFFSIZE", "", "", ""}, {"NCCL_LL_BUFFSIZE", "", "", ""},
    {"NCCL_MIN_NRINGS", "", "", ""}, {"NCCL_MAX_NRINGS", "", "", ""}, {"NCCL_HOME", "", "", ""}, {"NCCL_ROOT", "", "", ""}, {"NCCL_ROOT_DIR", "", "", ""}, {"NCCL_LIB_DIR", "", "", ""}, {"NCCL_INCLUDE_DIR", "", "", ""}, {"NCCL_VERSION", "", "", ""},
    {"NCCL_TIMEOUT", "", "", ""}, {"NCCL_TOPO_AFFINITY", "", "", ""}, {"NCCL_GDRCOPY_ENABLE", "", "", ""}, {"NCCL_FASTRAK_ENABLE_HOTPATH_LOGGING", "", "", ""}, {"NCCL_TELEMETRY_ENABLE", "", "", ""}, {"NCCL_TESTS_DEVICE", "", "", ""},
    {"NCCL_ASYNC_ERROR_HANDLING", "", "TORCH_NCCL_ASYNC_ERROR_HANDLING", ""}, {"NCCL_BLOCKING_WAIT", "", "TORCH_NCCL_BLOCKING_WAIT", ""}, {"NCCL_DESYNC_DEBUG", "", "TORCH_NCCL_DESYNC_DEBUG", ""}, {"NCCL_ENABLE_TIMING", "", "TORCH_NCCL_ENABLE_TIMING", ""},
    {"NCCL_USE_COMM_NONBLOCKING", "", "TORCH_NCCL_USE_COMM_NONBLOCKING", ""}, {"NCCL_AVOID_RECORD_STREAMS", "", "TORCH_NCCL_AVOID_RECORD_STREAMS", ""},
    {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "0|1|2|3", "", ""}, {"TORCH_NCCL_BLOCKING_WAIT", "", "", ""}, {"TORCH_NCCL_DESYNC_DEBUG", "", "", ""}, {"TORCH_NCCL_ENABLE_TIMING", "", "", ""}, {"TORCH_NCCL_ENABLE_MONITORING", "", "", ""},
    {"TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "", "", ""}, {"TORCH_NCCL_TRACE_BUFFER_SIZE", "", "", ""}, {"TORCH_NCCL_DUMP_ON_TIMEOUT", "", "", ""}, {"TORCH_NCCL_USE_COMM_NONBLOCKING", "", "", ""}, {"TORCH_NCCL_AVOID_RECORD_STREAMS", "", "", ""},
    {"TORCH_NCCL_HIGH_PRIORITY", "", "", ""}, {"TORCH_NCCL_RETHROW_CUDA_ERRORS", "", "", ""}, {"TORCH_NCCL_PROPAGATE_ERROR", "", "", ""}, {"TORCH_NCCL_COORD_CHECK_MILSEC", "", "", ""}, {"TORCH_NCCL_LOG_CPP_STACK_ON_UNCLEAN_SHUTDOWN", "", "", ""},
    {"TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", "", "", ""}, {"TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "", "", ""}, {"TORCH_NCCL_DEBUG_INFO_PIPE_FILE", "", "", ""}, {"TORCH_NCCL_NAN_CHECK", "", "", ""}, {"TORCH_NCCL_CUDA_EVENT_CACHE", "", "", ""},
    {"TORCH_NCCL_USE_TENSOR_REGISTER_ALLOCATOR_HOOK", "", "", ""}, {"TORCH_NCCL_BCAST_UNIQUEID", "", "", ""}, {"TORCH_NCCL_RANKS_PER_ROOT", "", "", ""},
    // ProcessGroupUCC of PyTorch 2.9.
    {"TORCH_UCC_BLOCKING_WAIT", "", "", ""}, {"TORCH_UCC_USE_FUTURE", "", "", ""}, {"TORCH_UCC_PROFILING_ENABLE", "", "", ""}, {"TORCH_UCC_SHARED_COMM", "", "", ""}, {"TORCH_UCC_ENABLE_HEALTH_CHECK", "", "", ""},
    {"TORCH_UCC_ALLGATHER_BLOCKING_WAIT", "", "", ""}, {"TORCH_UCC_ALLREDUCE_BLOCKING_WAIT", "", "", ""}, {"TORCH_UCC_ALLTOALL_BLOCKING_WAIT", "", "", ""}, {"TORCH_UCC_BCAST_BLOCKING_WAIT", "", "", ""},
    {"TORCH_FR_BUFFER_SIZE", "", "", ""}, {"TORCH_FR_DUMP_TEMP_FILE", "", "", ""}, {"TORCH_DISTRIBUTED_DEBUG", "OFF|INFO|DETAIL", "", ""}, {"TORCH_CPP_LOG_LEVEL", "INFO|WARNING|ERROR|FATAL|0|1|2|3", "", ""}, {"TORCH_SHOW_CPP_STACKTRACES", "", "", ""},
    {"TORCH_CUDA_ARCH_LIST", "", "", ""}, {"TORCH_EXTENSIONS_DIR", "", "", ""}, {"TORCH_HOME", "", "", ""}, {"TORCH_LOGS", "", "", ""}, {"TORCH_LOGS_OUT", "", "", ""}, {"TORCH_LOGS_FORMAT", "", "", ""}, {"TORCH_TRACE", "", "", ""},
    {"TORCH_USE_CUDA_DSA", "", "", ""}, {"TORCH_COMPILE_DEBUG", "", "", ""}, {"TORCH_COMPILE_DISABLE", "", "", ""}, {"TORCHINDUCTOR_CACHE_DIR", "", "", ""}, {"TORCHDYNAMO_DISABLE", "", "", ""}, {"TORCHDYNAMO_VERBOSE", "", "", ""},
    {"PYTORCH_CUDA_ALLOC_CONF", "", "", ""}, {"PYTORCH_ALLOC_CONF", "", "", ""}, {"PYTORCH_HIP_ALLOC_CONF", "", "", ""}, {"PYTORCH_NO_CUDA_MEMORY_CACHING", "", "", "every tensor is then allocated by the driver"}, {"PYTORCH_NVML_BASED_CUDA_CHECK", "", "", ""},
    {"PYTORCH_ENABLE_MPS_FALLBACK", "", "", ""}, {"PYTORCH_ENABLE_XPU_FALLBACK", "", "", ""}, {"PYTORCH_DEBUG_XPU_FALLBACK", "", "", ""}, {"PYTORCH_JIT", "", "", ""}, {"GLOO_SOCKET_IFNAME", "", "", ""},
    {"HF_HOME", "", "", ""}, {"HF_HUB_OFFLINE", "", "", ""}, {"HF_HUB_CACHE", "", "", ""}, {"HF_TOKEN", "", "", ""}, {"HF_DATASETS_CACHE", "", "", ""}, {"HF_DATASETS_OFFLINE", "", "", ""}, {"HF_ENDPOINT", "", "", ""},
    {"HF_HUB_ENABLE_HF_TRANSFER", "", "", ""}, {"HF_HUB_DISABLE_TELEMETRY", "", "", ""}, {"HF_HUB_DOWNLOAD_TIMEOUT", "", "", ""}, {"HF_MODULES_CACHE", "", "", ""}, {"HF_EVALUATE_OFFLINE", "", "", ""},
    {"TRANSFORMERS_CACHE", "", "HF_HOME", ""}, {"TRANSFORMERS_OFFLINE", "", "", ""}, {"TRANSFORMERS_VERBOSITY", "", "", ""}, {"TOKENIZERS_PARALLELISM", "", "", ""},
};

} // namespace

const KnownVariable* find_variable(std::string_view name) {
  const auto found = std::find_if(std::begin(all), std::end(all), [&](const KnownVariable& each) { return each.name == name; });
  return found == std::end(all) ? nullptr : found;
}

std::vector<std::string_view> variable_names() {
  std::vector<std::string_view> names;
  for (const KnownVariable& each : all) names.push_back(each.name);
  return names;
}

bool is_read_by_the_group(std::string_view name) {
  // NCCL itself reads its own with the first collective.
  for (const std::string_view begin : {"TORCH_NCCL_", "GLOO_", "MASTER_"})
    if (name.starts_with(begin)) return true;
  return name == "TORCH_DISTRIBUTED_DEBUG";
}

std::vector<std::string_view> allocator_options() {
  return {"backend", "max_split_size_mb", "max_non_split_rounding_mb", "garbage_collection_threshold", "roundup_power2_divisions", "expandable_segments", "release_lock_on_cudamalloc", "release_lock_on_hipmalloc",
          "pinned_use_cuda_host_register", "pinned_use_hip_host_register", "pinned_num_register_threads", "pinned_use_background_threads", "pinned_reserve_segment_size_mb", "graph_capture_record_stream_reuse", "per_process_memory_fraction"};
}

std::span<const Contradiction> contradictions() {
  // The documentation of ProcessGroupNCCL's variables, PyTorch 2.9.
  static constexpr std::string_view blocks = "a blocking wait overrides the handling of errors by the watchdog, and only one of them is in use";
  static constexpr Contradiction pairs[] = {
      {"TORCH_NCCL_BLOCKING_WAIT", "1", "TORCH_NCCL_ASYNC_ERROR_HANDLING", "0", blocks},
      {"NCCL_BLOCKING_WAIT", "1", "NCCL_ASYNC_ERROR_HANDLING", "0", blocks},
  };
  return pairs;
}

bool has_owner(std::string_view name) {
  for (const std::string_view begin : {"NCCL_", "TORCH_", "CUDA_", "OMP_", "PYTORCH_", "HF_", "GLOO_", "MASTER_"})
    if (name.starts_with(begin)) return true;
  // A slip in what the names begin with.
  for (const std::string_view begin : {"NCLL_", "NCL_", "CUDE_", "TOCRH_", "PYTOCH_", "MASTR_", "OPM_"})
    if (name.starts_with(begin)) return true;
  return false;
}

} // namespace stepzero::rules::launch
