"""bench/run programs: programs that people run, over Fallow and its peers, interleaved, as bench/run suite does it."""

import program_rows
import suite

if __name__ == "__main__":
    suite.run_command("programs", "Time and memory of programs that people run, interleaved.", program_rows.ROWS)
