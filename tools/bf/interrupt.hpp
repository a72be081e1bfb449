// Ctrl-C and similar signals (SIGINT, SIGTERM, SIGHUP) while a filter is written. The input ends at once, the command
// closes its files as if it were done, and only then does the signal kill the process. So an interrupted `add` leaves a
// clean file, and not one that counts as unclean after the next reboot, and `build` leaves nothing, on any filesystem.
#pragma once

namespace bf::interrupt {

// From now on signals wait. A second one of the same kind kills at once.
void defer();

// The descriptor whose input ends when a signal comes; -1: none.
void watch(int input_fd);

// A signal is waiting: stop, close, call obey().
bool pending() noexcept;

// Dies of the signal that is waiting, if any.
void obey();

}  // namespace bf::interrupt
