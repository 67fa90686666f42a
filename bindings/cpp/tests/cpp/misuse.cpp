// What is wrong is refused when it runs, with the rule's id, and changes nothing. The profile is chosen at run time.

#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include "expect.hpp"

using namespace pto;

using Vec = Tile<TileType::Vec, float, 16, 64>;
using Dyn = Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, -1, -1>;

static void TileTypes()
{
    Vec good;
    // A tile type is checked when it is first used.
    Tile<TileType::Vec, float, 16, 3> narrow;
    EXPECT_RULE("tile-align", TMOV(narrow, narrow));
    Tile<TileType::Vec, half, 16, 24, BLayout::ColMajor, 16, 24, SLayout::RowMajor> box;
    EXPECT_RULE("tile-box-cols", TMOV(box, box));
    Tile<TileType::Mat, half, 17, 32, BLayout::ColMajor, 17, 32, SLayout::RowMajor> rows;
    EXPECT_RULE("tile-box-rows", TMOV(rows, rows));
    Tile<TileType::Vec, half, 16, 32, BLayout::ColMajor, 16, 32, SLayout::RowMajor, 1024> fractal;
    EXPECT_RULE("tile-fractal", TMOV(fractal, fractal));
    Tile<TileType::Vec, float8_e4m3_t, 16, 32> fp8;
    EXPECT_RULE("tile-dtype", TMOV(fp8, fp8));
    Tile<TileType::Vec, half, 16, 32, BLayout::ColMajor, 16, 32, SLayout::RowMajor, 512, PadValue::Null,
         CompactMode::RowPlusOne>
        plus;
    EXPECT_RULE("tile-compact", TMOV(plus, plus));
}

static void Regions()
{
    Dyn unset, set(5, 11);
    EXPECT(set.GetValidRow() == 5 && set.GetValidCol() == 11 && unset.GetValidRow() == -1);
    EXPECT_RULE("valid-unset", TMOV(set, unset));
    EXPECT_RULE("valid-range", Dyn(17, 64));
    EXPECT_RULE("valid-range", Dyn(-1, 64));
    EXPECT_RULE("valid-range", set.SetValidCol(65));
    EXPECT_RULE("", Vec(16, 64));
    EXPECT_RULE("valid-range", Vec(16, 63));
    set.SetValidRow(0);
    set.SetValidCol(64);
    EXPECT(set.GetValidRow() == 0 && set.GetValidCol() == 64);
}

static void Indices()
{
    Vec dst;
    Tile<TileType::Vec, float, 8, 8> window;
    EXPECT_RULE("", TINSERT(dst, window, 8, 56));
    EXPECT_RULE("tinsert-bounds", TINSERT(dst, window, 9, 0));
    EXPECT_RULE("tinsert-bounds", TINSERT(dst, window, -1, 0));
    EXPECT_RULE("tinsert-bounds", TINSERT(dst, window, 65536, 0));
    EXPECT_RULE("tinsert-bounds", TINSERT(dst, window, INT64_MAX, INT64_MAX));
    EXPECT_RULE("textract-bounds", TEXTRACT(window, dst, 0, 57));
    EXPECT_RULE("textract-bounds", TEXTRACT(window, dst, UINT64_MAX, 0));
    EXPECT_RULE("quant-source", TINSERT(dst, window, uint64_t{0x3F800000}, 0, 0));
    EXPECT_RULE("fp-value", TFILLPAD(dst, 1e300));
    // A value converts to the nearest one.
    EXPECT_RULE("", TFILLPAD(dst, 0.1));
    Tile<TileType::Vec, int8_t, 16, 32, BLayout::RowMajor, 3, 3> bytes;
    EXPECT_RULE("fp-value", TFILLPAD(bytes, 128));
    EXPECT_RULE("fp-value", TMOV_FP(bytes, bytes, 0.5f));
}

static void Places()
{
    Vec a, b;
    EXPECT_RULE("tassign-align", TASSIGN(a, 0x10));
    EXPECT_RULE("tassign-range", TASSIGN(a, -32));
    EXPECT_RULE("", TASSIGN(a, 0x100000));
    TASSIGN(b, 0x100020);
    EXPECT_RULE("overlap", TMOV(a, b));
    EXPECT_RULE("", TMOV(a, a));
    Tile<TileType::Vec, float, 8, 8> tiny;
    EXPECT_RULE("tassign-range", TASSIGN(a, tiny));
    Tile<TileType::Mat, float, 16, 64> mat;
    EXPECT_RULE("tassign-range", TASSIGN(mat, b));

    SetProfile(Profile::A2A3);
    Vec c;
    EXPECT_RULE("tassign-range", TASSIGN(c, 192 * 1024 - 4064));
    EXPECT_RULE("", TASSIGN(c, 192 * 1024 - 4096));
    Tile<TileType::Vec, float, 256, 256> huge;
    EXPECT_RULE("tile-size", TFILLPAD(huge, 0));
    {
        Tile<TileType::Vec, float, 256, 128> half0, half1;
        EXPECT_RULE("tfillpad-noop", SetWarningHandler([](const Error &e) { throw e; }); TFILLPAD(half0, 0));
        SetWarningHandler({});
        EXPECT_RULE("capacity", TFILLPAD(half1, 0));
    }
    Tile<TileType::Vec, float, 256, 128> half2;
    EXPECT_RULE("", TFILLPAD(half2, 0));
    Tile<TileType::ScaleLeft, uint8_t, 16, 2, BLayout::RowMajor, 16, 2, SLayout::RowMajor, 32> scale;
    EXPECT_RULE("tile-loc", TFILLPAD(scale, 0));
    // The new core knows nothing of the old one's tiles.
    SetProfile(Profile::Cpu);
    EXPECT_RULE("binding", TFILLPAD(half2, 0));
}

static void Memory()
{
    std::vector<float> gm(16 * 64);
    using G = GlobalTensor<float, Shape<16, 64>, Stride<64, 1>>;
    Vec t;
    TLOAD(t, G(gm.data()));
    EXPECT_RULE("tload-shape", TLOAD(t, GlobalTensor<float, Shape<16, 63>, Stride<64, 1>>(gm.data())));
    std::vector<int32_t> ints(16 * 64);
    EXPECT_RULE("tload-dtype", TLOAD(t, GlobalTensor<int32_t, Shape<16, 64>, Stride<64, 1>>(ints.data())));
    EXPECT_RULE("binding", TLOAD(t, G(nullptr)));
    using D = Shape<-1, 64>;
    EXPECT_RULE("gm-bounds", TLOAD(t, GlobalTensor<float, D, Stride<64, 1>>(gm.data())));
    SetProfile(Profile::A5);
    Tile<TileType::Left, float, 16, 64, BLayout::ColMajor, 16, 64, SLayout::RowMajor> left;
    EXPECT_RULE("tload-loc", TLOAD(left, G(gm.data())));
    Tile<TileType::Vec, float, 16, 64, BLayout::ColMajor, 16, 64, SLayout::RowMajor> nz;
    EXPECT_RULE("tload-layout", TLOAD(nz, G(gm.data())));
    SetProfile(Profile::Cpu);
}

static void Handlers()
{
    Vec dst;
    Tile<TileType::Vec, float, 8, 8> window;
    int errors = 0;
    const ErrorHandler before = SetErrorHandler([&](const Error &e) {
        ++errors;
        EXPECT(e.rule() == "tinsert-bounds" && std::string(e.what()).find("error[tinsert-bounds]") == 0);
        EXPECT(e.message().find("57") != std::string::npos);
    });
    EXPECT(!before);
    TINSERT(dst, window, 0, 57);
    EXPECT(errors == 1);
    SetErrorHandler({});
    EXPECT_RULE("tinsert-bounds", TINSERT(dst, window, 0, 57));
}

// Every thread has a core of its own.
static void Threads()
{
    std::vector<float> out(4 * 256);
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k) {
        threads.emplace_back([k, &out] {
            Tile<TileType::Vec, float, 16, 16> t;
            TASSIGN(t, 0);
            for (int i = 0; i < 256; ++i) {
                t.SetValue(i / 16, i % 16, static_cast<float>(k * 256 + i));
            }
            // Four threads write interleaved columns of one matrix.
            using G = GlobalTensor<float, Shape<16, 16>, Stride<64, 1>>;
            TSTORE(G(out.data() + k * 16), t);
        });
    }
    for (std::thread &t : threads) {
        t.join();
    }
    for (int k = 0; k < 4; ++k) {
        for (int i = 0; i < 256; ++i) {
            EXPECT(out[static_cast<size_t>(i / 16 * 64 + k * 16 + i % 16)] == static_cast<float>(k * 256 + i));
        }
    }
}

// The C ABI itself takes anything.
static void Abi()
{
    EXPECT(tessera_machine_create(3, nullptr) == TESSERA_STATUS_NULL);
    TesseraMachine *m = nullptr;
    EXPECT(tessera_machine_create(3, &m) == TESSERA_STATUS_ARGUMENT && m == nullptr);
    EXPECT(tessera_machine_create(TESSERA_PROFILE_CPU, &m) == TESSERA_STATUS_OK && m != nullptr);
    EXPECT(tessera_issue(nullptr, nullptr) == TESSERA_STATUS_NULL && tessera_issue(m, nullptr) == TESSERA_STATUS_NULL);
    TesseraInst inst{};
    inst.op = 1000;
    EXPECT(tessera_issue(m, &inst) == TESSERA_STATUS_ARGUMENT);
    inst.op = TESSERA_OP_TMOV;
    inst.tile_count = 2;
    EXPECT(tessera_issue(m, &inst) == TESSERA_STATUS_NULL);
    inst.tile_count = UINT32_MAX;
    EXPECT(tessera_issue(m, &inst) == TESSERA_STATUS_ARGUMENT);
    TesseraTileArg args[2] = {};
    inst.tiles = args;
    inst.tile_count = 2;
    args[0].role = TESSERA_ROLE_SRC;
    args[1].role = TESSERA_ROLE_DST;
    EXPECT(tessera_issue(m, &inst) == TESSERA_STATUS_RULE);
    for (TesseraTileArg &a : args) {
        a.tile.rows = UINT64_MAX;
        a.tile.cols = UINT64_MAX;
        a.tile.fractal = 512;
    }
    EXPECT(tessera_issue(m, &inst) == TESSERA_STATUS_RULE);
    TesseraDiagnostic d{};
    EXPECT(tessera_diagnostic_count(m) == 1 && tessera_diagnostic(m, 0, &d) == TESSERA_STATUS_OK);
    EXPECT(std::string(d.rule) == "tile-size" && d.severity == TESSERA_SEVERITY_ERROR);
    EXPECT(tessera_diagnostic(m, 1, &d) == TESSERA_STATUS_ARGUMENT && tessera_diagnostic(m, 0, nullptr) == TESSERA_STATUS_NULL);
    // Each tag in turn is beyond its table.
    TesseraTile legal{};
    legal.rows = legal.cols = 16;
    legal.type_valid_row = legal.type_valid_col = legal.valid_row = legal.valid_col = 16;
    legal.fractal = 512;
    uint64_t handle = 0;
    EXPECT(tessera_storage_alloc(m, &legal, &handle) == TESSERA_STATUS_OK && handle != 0);
    EXPECT(tessera_storage_alloc(m, &legal, nullptr) == TESSERA_STATUS_NULL);
    const auto bad = [&](uint32_t TesseraTile::*field) {
        TesseraTile t = legal;
        t.*field = 77;
        return tessera_storage_alloc(m, &t, &handle);
    };
    EXPECT(bad(&TesseraTile::loc) == TESSERA_STATUS_ARGUMENT && bad(&TesseraTile::elem) == TESSERA_STATUS_ARGUMENT);
    EXPECT(bad(&TesseraTile::blayout) == TESSERA_STATUS_ARGUMENT && bad(&TesseraTile::slayout) == TESSERA_STATUS_ARGUMENT);
    EXPECT(bad(&TesseraTile::pad) == TESSERA_STATUS_ARGUMENT && bad(&TesseraTile::compact) == TESSERA_STATUS_ARGUMENT);
    EXPECT(bad(&TesseraTile::fractal) == TESSERA_STATUS_RULE);
    legal.storage_kind = TESSERA_STORAGE_AUTOMATIC;
    legal.storage = handle;
    uint8_t bytes[1024] = {1};
    EXPECT(tessera_write(m, &legal, bytes, 1023) == TESSERA_STATUS_ARGUMENT);
    EXPECT(tessera_write(m, &legal, bytes, 1024) == TESSERA_STATUS_OK);
    EXPECT(tessera_read(m, &legal, nullptr, 1024) == TESSERA_STATUS_NULL);
    float one = 0;
    EXPECT(tessera_read_element(m, &legal, 0, 16, &one, 4) == TESSERA_STATUS_ARGUMENT);
    EXPECT(tessera_read_element(m, &legal, 0, 0, &one, 8) == TESSERA_STATUS_ARGUMENT);
    legal.offset = 32;
    EXPECT(tessera_write(m, &legal, bytes, 1024) == TESSERA_STATUS_RULE);
    legal.offset = UINT64_MAX;
    EXPECT(tessera_write(m, &legal, bytes, 1024) == TESSERA_STATUS_RULE);
    legal.offset = 0;
    legal.pitch = 3;
    EXPECT(tessera_write(m, &legal, bytes, 1024) == TESSERA_STATUS_ARGUMENT);
    legal.pitch = 0;
    // Views with impossible numbers.
    TesseraView view{};
    view.data = bytes;
    view.extent = -1;
    EXPECT(tessera_load(m, &legal, &view) == TESSERA_STATUS_ARGUMENT);
    view.dims = 5;
    for (int i = 0; i < 5; ++i) {
        view.shape[i] = INT64_MAX;
        view.stride[i] = INT64_MIN;
    }
    EXPECT(tessera_load(m, &legal, &view) == TESSERA_STATUS_RULE);
    EXPECT(tessera_store(m, &view, &legal) == TESSERA_STATUS_RULE);
    EXPECT(tessera_storage_free(m, handle) == TESSERA_STATUS_OK);
    EXPECT(tessera_storage_free(m, handle) == TESSERA_STATUS_ARGUMENT);
    EXPECT(tessera_read(m, &legal, bytes, 1024) == TESSERA_STATUS_ARGUMENT);
    uint64_t bits = 0;
    EXPECT(tessera_encode(TESSERA_ELEM_F16, 1.0, &bits) == TESSERA_STATUS_OK && bits == 0x3C00);
    EXPECT(tessera_encode(99, 1.0, &bits) == TESSERA_STATUS_ARGUMENT && tessera_decode(0, 0, nullptr) == TESSERA_STATUS_NULL);
    // A handle of another machine, and numbers that are none.
    TesseraMachine *other = nullptr;
    EXPECT(tessera_machine_create(TESSERA_PROFILE_CPU, &other) == TESSERA_STATUS_OK);
    legal.storage_kind = legal.storage = 0;
    EXPECT(tessera_storage_alloc(m, &legal, &handle) == TESSERA_STATUS_OK);
    legal.storage_kind = TESSERA_STORAGE_AUTOMATIC;
    for (const uint64_t wrong : {handle, uint64_t{0}, UINT64_MAX, UINT64_MAX / 2}) {
        legal.storage = wrong;
        EXPECT(tessera_read(other, &legal, bytes, 1024) == TESSERA_STATUS_ARGUMENT);
        EXPECT(tessera_storage_free(other, wrong) == TESSERA_STATUS_ARGUMENT);
    }
    tessera_machine_destroy(other);
    tessera_machine_destroy(m);
    tessera_machine_destroy(nullptr);
}

// Ends with whether a machine holds what was written into it.
static bool Holds(TesseraMachine *m, uint8_t value)
{
    TesseraTile tile{};
    tile.rows = tile.cols = 16;
    tile.type_valid_row = tile.type_valid_col = tile.valid_row = tile.valid_col = 16;
    tile.fractal = 512;
    uint64_t handle = 0;
    if (tessera_storage_alloc(m, &tile, &handle) != TESSERA_STATUS_OK) {
        return false;
    }
    tile.storage_kind = TESSERA_STORAGE_AUTOMATIC;
    tile.storage = handle;
    uint8_t in[1024], out[1024] = {};
    std::memset(in, value, sizeof in);
    return tessera_write(m, &tile, in, sizeof in) == TESSERA_STATUS_OK &&
           tessera_read(m, &tile, out, sizeof out) == TESSERA_STATUS_OK && std::memcmp(in, out, sizeof in) == 0 &&
           tessera_storage_free(m, handle) == TESSERA_STATUS_OK;
}

// A machine belongs to one thread at a time; a process that forks has one in each half; one that unwinds still destroys its own.
static void ThreadsForksAndUnwinding()
{
    TesseraMachine *m = nullptr;
    EXPECT(tessera_machine_create(TESSERA_PROFILE_A5, &m) == TESSERA_STATUS_OK);
    bool held = false;
    std::thread([&] { held = Holds(m, 7); }).join();
    EXPECT(held && Holds(m, 8));
    bool all[4] = {};
    std::vector<std::thread> threads;
    for (int n = 0; n < 4; ++n) {
        threads.emplace_back([&all, n] {
            TesseraMachine *own = nullptr;
            all[n] = tessera_machine_create(TESSERA_PROFILE_A5, &own) == TESSERA_STATUS_OK && Holds(own, static_cast<uint8_t>(n));
            tessera_machine_destroy(own);
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT(all[0] && all[1] && all[2] && all[3]);
    const pid_t child = fork();
    if (child == 0) {
        _exit(Holds(m, 9) ? 0 : 1);
    }
    int status = -1;
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    struct Owner {
        TesseraMachine *machine;
        ~Owner() { held_at_end = Holds(machine, 10); tessera_machine_destroy(machine); }
        bool &held_at_end;
    };
    bool unwound = false;
    try {
        Owner owner{m, unwound};
        throw std::runtime_error("unwinding");
    } catch (const std::runtime_error &) {
    }
    EXPECT(unwound);
}

int main()
{
    TileTypes();
    Regions();
    Indices();
    Places();
    Memory();
    Handlers();
    Threads();
    Abi();
    ThreadsForksAndUnwinding();
    return Finish("misuse");
}
