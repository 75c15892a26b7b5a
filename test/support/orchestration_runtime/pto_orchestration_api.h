// A runtime that only records: what an orchestration function submits, as one JSON object a line.
//
// It has the names and the rules that the text of `-t orchestration` relies on, as far as they are
// public, and aborts where a program breaks one of them: an auto scope inside a manual one, an
// invalid dependency, too many arguments, a reshape of what is not contiguous, ...
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#define RECORDER_CHECK(condition, message)                                  \
    do {                                                                    \
        if (!(condition)) {                                                 \
            std::fprintf(stderr, "orchestration runtime: %s\n", (message)); \
            std::exit(3);                                                   \
        }                                                                   \
    } while (0)

constexpr uint32_t MOST_DIMENSIONS = 5;
constexpr int32_t INVALID_KERNEL_ID = -1;

enum class DataType : uint8_t {
    FLOAT32, FLOAT16, INT32, INT16, INT8, UINT8, BFLOAT16, INT64, UINT64, UINT16, UINT32, BOOL,
};
enum class PTO2ScopeMode { AUTO, MANUAL };
enum class PredicateOp { NONE, EQ, NE, GT, LT, GE, LE };

inline uint64_t element_size(DataType type) {
    switch (type) {
        case DataType::INT64:
        case DataType::UINT64: return 8;
        case DataType::FLOAT32:
        case DataType::INT32:
        case DataType::UINT32: return 4;
        case DataType::FLOAT16:
        case DataType::BFLOAT16:
        case DataType::INT16:
        case DataType::UINT16: return 2;
        default: return 1;
    }
}

template <typename T>
inline uint64_t to_u64(T value) {
    static_assert(sizeof(T) <= sizeof(uint64_t) && std::is_trivially_copyable_v<T>);
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
}

template <typename T>
inline T from_u64(uint64_t bits) {
    static_assert(sizeof(T) <= sizeof(uint64_t) && std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}

struct PTO2TaskId {
    uint64_t raw;

    static PTO2TaskId invalid() { return PTO2TaskId{~uint64_t{0}}; }
    bool is_valid() const { return raw != ~uint64_t{0}; }
    bool is_invalid() const { return !is_valid(); }
    bool operator==(const PTO2TaskId& other) const { return raw == other.raw; }
    bool operator!=(const PTO2TaskId& other) const { return raw != other.raw; }
};

struct ChipTensor {
    struct {
        uint64_t addr;
        uint64_t size;
    } buffer;
    PTO2TaskId owner_task_id;
    uint64_t start_offset;
    int32_t version;
    uint32_t ndims;
    DataType dtype;
    bool manual_dep;
    bool is_contiguous;
    uint32_t shapes[MOST_DIMENSIONS];
    uint32_t strides[MOST_DIMENSIONS];

    uint64_t numel() const {
        uint64_t count = 1;
        for (uint32_t axis = 0; axis < ndims; ++axis) count *= shapes[axis];
        return count;
    }

    ChipTensor view(const uint32_t extents[], const uint32_t offsets[]) const {
        ChipTensor part = *this;
        part.manual_dep = false;
        for (uint32_t axis = 0; axis < ndims; ++axis) part.shapes[axis] = extents[axis];
        if (part.numel() != 0) {
            for (uint32_t axis = 0; axis < ndims; ++axis) {
                RECORDER_CHECK(offsets[axis] + extents[axis] <= shapes[axis], "a view goes beyond");
                part.start_offset += uint64_t{offsets[axis]} * strides[axis];
            }
        }
        part.is_contiguous = part.is_packed();
        return part;
    }

    ChipTensor reshape(const uint32_t extents[], uint32_t rank) const {
        RECORDER_CHECK(is_contiguous, "a reshape of what is not contiguous");
        ChipTensor other = *this;
        other.manual_dep = false;
        other.set_packed(extents, rank);
        RECORDER_CHECK(other.numel() == numel(), "a reshape to another number of elements");
        return other;
    }

    ChipTensor transpose(uint32_t x, uint32_t y) const {
        RECORDER_CHECK(x < ndims && y < ndims, "a transpose of an axis that is not there");
        ChipTensor other = *this;
        other.manual_dep = false;
        std::swap(other.shapes[x], other.shapes[y]);
        std::swap(other.strides[x], other.strides[y]);
        other.is_contiguous = other.is_packed();
        return other;
    }

    void set_packed(const uint32_t extents[], uint32_t rank) {
        RECORDER_CHECK(rank > 0 && rank <= MOST_DIMENSIONS, "a tensor of too many dimensions");
        ndims = rank;
        uint32_t step = 1;
        for (uint32_t axis = rank; axis-- > 0;) {
            shapes[axis] = extents[axis];
            strides[axis] = step;
            step *= extents[axis];
        }
        is_contiguous = true;
    }

    bool is_packed() const {
        uint64_t step = 1;
        for (uint32_t axis = ndims; axis-- > 0;) {
            if (strides[axis] != step) return false;
            step *= shapes[axis];
        }
        return true;
    }
};

class TensorCreateInfo {
  public:
    TensorCreateInfo(const uint32_t extents[], uint32_t rank, DataType type = DataType::FLOAT32,
                     bool manual_dep = false)
        : rank_(rank), type_(type), manual_dep_(manual_dep) {
        RECORDER_CHECK(rank > 0 && rank <= MOST_DIMENSIONS, "a tensor of too many dimensions");
        for (uint32_t axis = 0; axis < rank; ++axis) extents_[axis] = extents[axis];
    }

    template <typename T>
    void set_initial_value(T value) {
        initial_ = to_u64(value);
        is_filled_ = true;
    }

  private:
    friend class Recorder;
    uint32_t extents_[MOST_DIMENSIONS] = {};
    uint32_t rank_;
    DataType type_;
    bool manual_dep_;
    uint64_t initial_ = 0;
    bool is_filled_ = false;
};

class TaskOutputTensors {
  public:
    TaskOutputTensors() : id_(PTO2TaskId::invalid()) {}
    bool empty() const { return tensors_.empty(); }
    uint32_t size() const { return static_cast<uint32_t>(tensors_.size()); }
    const ChipTensor& get_ref(uint32_t index) const& {
        RECORDER_CHECK(index < tensors_.size(), "an output that the task has not");
        return tensors_[index];
    }
    const ChipTensor& get_ref(uint32_t index) const&& = delete;
    PTO2TaskId task_id() const { return id_; }

  private:
    friend class Recorder;
    PTO2TaskId id_;
    std::vector<ChipTensor> tensors_;
};

struct CoreTaskPredicate {
    struct {
        const ChipTensor* tensor;
        uint32_t ndims;
        uint32_t indices[MOST_DIMENSIONS];
    } operand;
    PredicateOp op;
    int64_t target;
};

struct MixedKernels {
    int32_t aic_kernel_id{INVALID_KERNEL_ID};
    int32_t aiv0_kernel_id{INVALID_KERNEL_ID};
    int32_t aiv1_kernel_id{INVALID_KERNEL_ID};
};

class LaunchSpec {
  public:
    void set_block_num(int16_t count) { blocks = count; }
    void set_require_sync_start(bool require) { sync_start = require; }
    int16_t blocks = 1;
    bool sync_start = false;
};

class CoreTaskArgs {
  public:
    CoreTaskArgs() = default;
    CoreTaskArgs(const CoreTaskArgs&) = delete;
    CoreTaskArgs& operator=(const CoreTaskArgs&) = delete;

    template <typename... Ts>
    void add_input(Ts&... tensors) { (add(tensors, "input"), ...); }
    template <typename... Ts>
    void add_inout(Ts&... tensors) { (add(tensors, "inout"), ...); }
    template <typename... Ts>
    void add_no_dep(Ts&... tensors) { (add(tensors, "no_dep"), ...); }
    template <typename... Ts>
    void add_output(Ts&... tensors) { (add(tensors, "output_existing"), ...); }
    template <typename... Ts>
    void add_scalar(Ts... values) {
        (scalars_.push_back(to_u64(values)), ...);
        RECORDER_CHECK(scalars_.size() <= 16, "more than 16 scalars");
    }
    template <typename... Ts>
    void dump(Ts&... tensors) { (dumped(tensors), ...); }
    void set_dependencies(const PTO2TaskId* ids, uint32_t count) {
        RECORDER_CHECK(dependencies_ == nullptr, "dependencies are given twice");
        dependencies_ = ids;
        dependency_count_ = count;
    }
    void set_allow_early_resolve(bool allow = true) { early_ = allow; }
    void set_predicate(const CoreTaskPredicate& predicate) {
        predicate_ = predicate;
        has_predicate_ = true;
    }
    LaunchSpec launch_spec;

  private:
    friend class Recorder;
    struct Argument {
        ChipTensor tensor;
        const TensorCreateInfo* created;
        const char* direction;
    };
    void add(const ChipTensor& tensor, const char* direction) { add({tensor, nullptr, direction}); }
    void add(const TensorCreateInfo& info, const char*) { add({ChipTensor{}, &info, "output"}); }
    void add(const Argument& argument) {
        RECORDER_CHECK(scalars_.empty(), "a tensor after a scalar");
        arguments_.push_back(argument);
        RECORDER_CHECK(arguments_.size() <= 32, "more than 32 tensors");
    }
    void dumped(const ChipTensor&) {}

    std::vector<Argument> arguments_;
    std::vector<uint64_t> scalars_;
    const PTO2TaskId* dependencies_ = nullptr;
    uint32_t dependency_count_ = 0;
    bool early_ = false;
    bool has_predicate_ = false;
    CoreTaskPredicate predicate_ = {};
};

// Keeps what was submitted, and writes it.
class Recorder {
  public:
    static Recorder& get() {
        static Recorder recorder;
        return recorder;
    }

    ChipTensor external(const char* name, const uint32_t extents[], uint32_t rank, DataType type,
                        const void* contents) {
        uint64_t address = new_buffer(name);
        ChipTensor tensor = packed(extents, rank, type, address, PTO2TaskId::invalid());
        if (contents != nullptr) {
            const auto* bytes = static_cast<const uint8_t*>(contents);
            memory_[address].assign(bytes, bytes + tensor.buffer.size);
        }
        return tensor;
    }

    void open(PTO2ScopeMode mode) {
        RECORDER_CHECK(manual_ == 0 || mode == PTO2ScopeMode::MANUAL, "auto in a manual scope");
        scopes_.push_back(mode);
        manual_ += mode == PTO2ScopeMode::MANUAL;
    }
    void close() {
        manual_ -= scopes_.back() == PTO2ScopeMode::MANUAL;
        scopes_.pop_back();
    }

    TaskOutputTensors allocate(const std::vector<const TensorCreateInfo*>& infos) {
        RECORDER_CHECK(infos.size() <= 16, "more than 16 buffers at once");
        TaskOutputTensors outputs;
        outputs.id_ = PTO2TaskId{next_++};
        for (const auto* info : infos) outputs.tensors_.push_back(create(*info, outputs.id_));
        return outputs;
    }

    TaskOutputTensors submit(const MixedKernels& kernels, const CoreTaskArgs& args, bool is_dummy) {
        TaskOutputTensors outputs;
        outputs.id_ = PTO2TaskId{next_++};
        RECORDER_CHECK(args.launch_spec.blocks > 0, "no core to run on");
        std::printf("{\"id\": %llu, \"kernels\": [%d, %d, %d], \"dummy\": %s, \"manual\": %s, ",
                    number(outputs.id_.raw), kernels.aic_kernel_id, kernels.aiv0_kernel_id,
                    kernels.aiv1_kernel_id, is_dummy ? "true" : "false",
                    manual_ > 0 ? "true" : "false");
        std::printf("\"blocks\": %d, \"sync_start\": %s, \"early\": %s, \"arguments\": [",
                    args.launch_spec.blocks, args.launch_spec.sync_start ? "true" : "false",
                    args.early_ ? "true" : "false");
        const char* comma = "";
        for (const auto& argument : args.arguments_) {
            ChipTensor tensor = argument.tensor;
            if (argument.created != nullptr) {
                tensor = create(*argument.created, outputs.id_);
                outputs.tensors_.push_back(tensor);
            }
            std::printf("%s{\"direction\": \"%s\", ", comma, argument.direction);
            write(tensor);
            std::printf("}");
            comma = ", ";
        }
        std::printf("], \"scalars\": [");
        comma = "";
        for (uint64_t scalar : args.scalars_) {
            std::printf("%s%llu", comma, number(scalar));
            comma = ", ";
        }
        std::printf("], \"deps\": [");
        comma = "";
        for (uint32_t place = 0; place < args.dependency_count_; ++place) {
            RECORDER_CHECK(args.dependencies_[place].raw < outputs.id_.raw, "an invalid dependency");
            std::printf("%s%llu", comma, number(args.dependencies_[place].raw));
            comma = ", ";
        }
        std::printf("]");
        if (args.has_predicate_) {
            const auto& predicate = args.predicate_;
            std::printf(", \"predicate\": {\"op\": %d, \"target\": %lld, \"indices\": [",
                        static_cast<int>(predicate.op), static_cast<long long>(predicate.target));
            for (uint32_t axis = 0; axis < predicate.operand.ndims; ++axis)
                std::printf("%s%u", axis ? ", " : "", predicate.operand.indices[axis]);
            std::printf("], ");
            write(*predicate.operand.tensor);
            std::printf("}");
        }
        std::printf("}\n");
        return outputs;
    }

    uint8_t* element(const ChipTensor& tensor, uint32_t rank, const uint32_t indices[]) {
        RECORDER_CHECK(rank == tensor.ndims, "an element with as many indices as dimensions");
        uint64_t place = tensor.start_offset;
        for (uint32_t axis = 0; axis < rank; ++axis) {
            RECORDER_CHECK(indices[axis] < tensor.shapes[axis], "an element outside its tensor");
            place += uint64_t{indices[axis]} * tensor.strides[axis];
        }
        auto& bytes = memory_[tensor.buffer.addr];
        if (bytes.size() < tensor.buffer.size) bytes.resize(tensor.buffer.size);
        return bytes.data() + place * element_size(tensor.dtype);
    }

  private:
    static unsigned long long number(uint64_t value) { return value; }

    uint64_t new_buffer(const std::string& name) {
        names_.push_back(name);
        return names_.size();
    }

    static ChipTensor packed(const uint32_t extents[], uint32_t rank, DataType type,
                             uint64_t address, PTO2TaskId owner) {
        ChipTensor tensor = {};
        tensor.buffer.addr = address;
        tensor.owner_task_id = owner;
        tensor.dtype = type;
        tensor.set_packed(extents, rank);
        tensor.buffer.size = tensor.numel() * element_size(type);
        return tensor;
    }

    ChipTensor create(const TensorCreateInfo& info, PTO2TaskId owner) {
        uint64_t address = new_buffer("created" + std::to_string(created_++));
        ChipTensor tensor = packed(info.extents_, info.rank_, info.type_, address, owner);
        tensor.manual_dep = info.manual_dep_;
        if (info.is_filled_) {
            auto& bytes = memory_[address];
            bytes.resize(tensor.buffer.size);
            uint64_t size = element_size(info.type_);
            for (uint64_t at = 0; at < bytes.size(); at += size)
                std::memcpy(bytes.data() + at, &info.initial_, size);
        }
        return tensor;
    }

    void write(const ChipTensor& tensor) const {
        std::printf("\"buffer\": \"%s\", \"owner\": %lld, \"start\": %llu, \"shape\": [",
                    names_[tensor.buffer.addr - 1].c_str(),
                    static_cast<long long>(tensor.owner_task_id.raw), number(tensor.start_offset));
        for (uint32_t axis = 0; axis < tensor.ndims; ++axis)
            std::printf("%s%u", axis ? ", " : "", tensor.shapes[axis]);
        std::printf("], \"strides\": [");
        for (uint32_t axis = 0; axis < tensor.ndims; ++axis)
            std::printf("%s%u", axis ? ", " : "", tensor.strides[axis]);
        std::printf("]");
    }

    std::vector<PTO2ScopeMode> scopes_;
    int manual_ = 0;
    uint64_t next_ = 0;
    int created_ = 0;
    std::vector<std::string> names_;
    std::map<uint64_t, std::vector<uint8_t>> memory_;
};

struct PTO2ScopeGuard {
    explicit PTO2ScopeGuard(PTO2ScopeMode mode = PTO2ScopeMode::AUTO) { Recorder::get().open(mode); }
    ~PTO2ScopeGuard() { Recorder::get().close(); }
};
#define RECORDER_JOIN_(a, b) a##b
#define RECORDER_JOIN(a, b) RECORDER_JOIN_(a, b)
#define PTO2_SCOPE(...) if (PTO2ScopeGuard RECORDER_JOIN(scope_guard_, __COUNTER__){__VA_ARGS__}; true)

template <typename... Infos>
inline TaskOutputTensors alloc_tensors(const Infos&... infos) {
    return Recorder::get().allocate({&infos...});
}
inline TaskOutputTensors rt_submit_task(const MixedKernels& kernels, const CoreTaskArgs& args) {
    return Recorder::get().submit(kernels, args, false);
}
inline TaskOutputTensors rt_submit_aic_task(int32_t kernel, const CoreTaskArgs& args) {
    return rt_submit_task(MixedKernels{kernel, INVALID_KERNEL_ID, INVALID_KERNEL_ID}, args);
}
inline TaskOutputTensors rt_submit_aiv_task(int32_t kernel, const CoreTaskArgs& args) {
    return rt_submit_task(MixedKernels{INVALID_KERNEL_ID, kernel, INVALID_KERNEL_ID}, args);
}
inline TaskOutputTensors rt_submit_dummy_task(const CoreTaskArgs& args) {
    return Recorder::get().submit(MixedKernels{}, args, true);
}
inline int32_t rt_available_cluster_count() { return 24; }
inline int32_t rt_available_aiv_count() { return 48; }

template <typename T = uint64_t>
inline T get_tensor_data(const ChipTensor& tensor, uint32_t rank, const uint32_t indices[]) {
    static_assert(std::is_trivially_copyable_v<T>);
    RECORDER_CHECK(sizeof(T) == element_size(tensor.dtype), "an element of another size");
    T value;
    std::memcpy(&value, Recorder::get().element(tensor, rank, indices), sizeof(T));
    return value;
}
template <typename T = uint64_t>
inline void set_tensor_data(const ChipTensor& tensor, uint32_t rank, const uint32_t indices[],
                            T value) {
    RECORDER_CHECK(sizeof(T) == element_size(tensor.dtype), "an element of another size");
    std::memcpy(Recorder::get().element(tensor, rank, indices), &value, sizeof(T));
}

class ChipTaskArgs {
  public:
    class Reference {
      public:
        explicit Reference(const ChipTensor& tensor) : tensor_(tensor) {}
        const ChipTensor& ref() const { return tensor_; }

      private:
        const ChipTensor& tensor_;
    };
    Reference tensor(uint32_t index) const {
        RECORDER_CHECK(index < tensors.size(), "a tensor that is not passed");
        return Reference(tensors[index]);
    }
    uint64_t scalar(uint32_t index) const {
        RECORDER_CHECK(index < scalars.size(), "a scalar that is not passed");
        return scalars[index];
    }
    std::vector<ChipTensor> tensors;
    std::vector<uint64_t> scalars;
};

struct PTO2OrchestrationConfig {
    int expected_arg_count;
};
