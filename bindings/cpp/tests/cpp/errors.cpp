// What becomes of an error that no handler takes; the test that runs this sets TESSERA_ERRORS and reads what is left.
#include <pto/pto-inst.hpp>

#include "expect.hpp"

using namespace pto;

int main(int argc, char **argv)
{
    const std::string what = argc > 1 ? argv[1] : "";
    Tile<TileType::Vec, float, 16, 16> tile;
    Tile<TileType::Vec, float, 8, 8> window;
    if (what == "thread") {
        std::thread([&] { TINSERT(tile, window, 0, 9); }).join();
    } else if (what == "own") {
        std::set_terminate([] { std::_Exit(7); });
        TINSERT(tile, window, 0, 9);
    } else if (what == "other") {
        throw std::runtime_error("not ours");
    } else if (what == "caught") {
        try {
            TINSERT(tile, window, 0, 9); // the line that is named
        } catch (const Error &e) {
            EXPECT(std::string(e.file()).find("errors.cpp") != std::string::npos && e.line() == 22);
            EXPECT(e.instruction() == std::string("TINSERT") && e.rule() == "tinsert-bounds");
        }
        try {
            RecordEvent before;
            TINSERT(tile, window, 0, 9, before);
        } catch (const Error &e) {
            EXPECT(e.instruction() == std::string("TINSERT") && e.line() == 29);
        }
        EXPECT(ErrorCount() == 2);
        EXPECT(SetErrorMode(ErrorMode::Print) == ErrorMode::Throw);
        SetErrorMode(ErrorMode::Throw);
        return Finish("errors");
    } else {
        // Skipped where errors are printed.
        TINSERT(tile, window, 0, 9);
        TINSERT(tile, window, 9, 0);
        std::printf("went on, %d errors\n", static_cast<int>(ErrorCount()));
        return what == "three" ? 3 : 0;
    }
}
