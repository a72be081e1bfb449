// Ctrl-C and similar signals (SIGINT, SIGTERM, SIGHUP) while a filter is written. The input ends at once, the command
// closes its files as if it were done, and only then does the signal kill the process. So an interrupted `add` leaves a
// clean file, and not one that is unclean after the next reboot. An interrupted `build` leaves nothing, on any
// filesystem.
#pragma once

namespace bf::interrupt {

// Makes signals wait from now on. A second one of the same kind kills at once.
void defer();

// Sets the descriptor whose input ends when a signal comes; -1: none.
void watch(int input_fd);

// True if a signal is waiting: stop, close, call obey().
bool pending() noexcept;

// Ends the process by the signal that is waiting, if any.
void obey();

}  // namespace bf::interrupt
