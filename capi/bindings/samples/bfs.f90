! bfstore from Fortran, a page to copy. Debian: gfortran. It needs libbfstore.so where linker and loader find it.
!   gfortran bfs.f90 -lbfstore -o bfs
!   ./bfs    # prints: 1 10
module bfstore  ! the parts of capi/bfstore.h that are used here; the fields in `rest` stay zero
  use iso_c_binding
  use iso_fortran_env, only: error_unit
  implicit none
  integer(c_int64_t), parameter :: bfs_read = 1, bfs_write = 2, bfs_create = 8
  type, bind(c) :: bfs_error
    integer(c_int32_t) :: struct_bytes = 512, code = 0, os_errno = 0, rule = 0
    character(kind=c_char) :: message(496) = c_null_char
  end type
  type, bind(c) :: bfs_options
    integer(c_int32_t) :: struct_bytes = 184, mode = 0
    integer(c_int64_t) :: capacity = 0
    real(c_double) :: fpr = 0
    integer(c_int8_t) :: rest(160) = 0
  end type
  type, bind(c) :: bfs_key
    type(c_ptr) :: data
    integer(c_size_t) :: bytes
  end type
  type, bind(c) :: bfs_keys
    integer(c_int32_t) :: struct_bytes = 96, kind = 2  ! pairs
    integer(c_int64_t) :: count = 0
    type(c_ptr) :: data = c_null_ptr
    integer(c_int8_t) :: rest(72) = 0
  end type
  interface
    integer(c_int) function bfs_open(path, flags, options, made, error) bind(c)
      import; character(c_char) :: path(*); integer(c_int64_t), value :: flags
      type(bfs_options), optional :: options; type(c_ptr) :: made; type(bfs_error) :: error
    end function
    integer(c_int) function bfs_close(filter, error) bind(c)
      import; type(c_ptr), value :: filter; type(bfs_error) :: error
    end function
    integer(c_int) function bfs_add(filter, key, key_bytes) bind(c)
      import; type(c_ptr), value :: filter; character(c_char) :: key(*); integer(c_size_t), value :: key_bytes
    end function
    integer(c_int) function bfs_contains(filter, key, key_bytes) bind(c)
      import; type(c_ptr), value :: filter; character(c_char) :: key(*); integer(c_size_t), value :: key_bytes
    end function
    integer(c_int64_t) function bfs_add_keys(filter, keys) bind(c)
      import; type(c_ptr), value :: filter; type(bfs_keys) :: keys
    end function
    integer(c_int64_t) function bfs_contains_keys(filter, keys, answers) bind(c)
      import; type(c_ptr), value :: filter; type(bfs_keys) :: keys; integer(c_int8_t) :: answers(*)
    end function
  end interface
contains
  subroutine check(code, error)  ! if below 0, ends the program with the library's message, or the BFS_E code
    integer, intent(in) :: code
    type(bfs_error), intent(in), optional :: error
    if (code >= 0) return
    if (present(error)) write (error_unit, '(*(a))') error%message(:findloc(error%message, c_null_char, 1) - 1)
    if (.not. present(error)) write (error_unit, '(a, i0)') 'bfstore: error ', code
    stop 1, quiet=.true.
  end subroutine
  function pairs(keys) result(list)  ! the form in which bfstore takes many keys; without Fortran's padding blanks
    character(*), intent(in), target :: keys(:)
    type(bfs_key) :: list(size(keys))
    integer :: i
    list = [(bfs_key(c_loc(keys(i)), len_trim(keys(i), c_size_t)), i=1, size(keys))]
  end function
end module

program example
  use bfstore
  character(7), target :: added(2) = ['bob    ', 'carol  '], asked(2) = ['bob    ', 'mallory']
  type(bfs_key), target :: list(2)
  integer(c_int8_t) :: answers(2)  ! 1 is maybe, 0 is certainly not
  type(bfs_error) :: error
  type(c_ptr) :: users
  call check(bfs_open('users.bf' // c_null_char, bfs_write + bfs_create, bfs_options(capacity=1000, fpr=0.01), users, &
                      error), error)  ! makes the file if there is none; in any number of processes at once
  call check(bfs_add(users, 'alice', 5_c_size_t))
  list = pairs(added)
  call check(int(bfs_add_keys(users, bfs_keys(count=2, data=c_loc(list)))))
  list = pairs(asked)
  call check(int(bfs_contains_keys(users, bfs_keys(count=2, data=c_loc(list)), answers)))
  print '(i0, 1x, *(i0))', bfs_contains(users, 'alice', 5_c_size_t), answers  ! the only no is 0
  call check(bfs_close(users, error), error)  ! everything that was added is on the disk when it returns
end program
