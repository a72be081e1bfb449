! bfstore from Fortran, on one page. Debian: gfortran. It needs libbfstore.so where the linker and the loader find it.
!   gfortran bfs.f90 -lbfstore -o bfs
!   ./bfs create users.bf 1000 && ./bfs add users.bf user 10 && ./bfs ask users.bf user 12
module bfstore
  use iso_c_binding
  use iso_fortran_env, only: error_unit
  implicit none
  integer(c_int64_t), parameter :: bfs_open_read = 1, bfs_open_write = 2
  integer(c_int32_t), parameter :: bfs_keys_column32 = 4

  type, bind(c) :: bfs_error  ! the part of capi/bfstore.h that is used here
    integer(c_int32_t) :: struct_bytes = 0, code = 0, os_errno = 0, reserved = 0
    character(kind=c_char) :: message(496) = c_null_char
  end type
  type, bind(c) :: bfs_options
    integer(c_int32_t) :: struct_bytes = 0, mode = 0
    integer(c_int64_t) :: flags = 0, capacity = 0
    real(c_double) :: fpr = 0, bits_per_key = 0
    integer(c_int64_t) :: max_bytes = 0, num_bits = 0
    integer(c_int32_t) :: num_probes = 0, layout = 0, hash = 0, reserved = 0
    integer(c_int64_t) :: seed = 0
    type(c_ptr) :: like = c_null_ptr, note = c_null_ptr
    integer(c_int64_t) :: note_bytes = 0
    type(c_ptr) :: key = c_null_ptr
    integer(c_int64_t) :: key_bytes = 0
    integer(c_int32_t) :: lock_timeout_ms = 0, writeback_check_ms = 0
    integer(c_int8_t) :: file_id(16) = 0
    type(c_ptr) :: seeds = c_null_ptr
    integer(c_int64_t) :: num_seeds = 0
  end type
  type, bind(c) :: bfs_keys
    integer(c_int32_t) :: struct_bytes = 0, kind = 0
    integer(c_int64_t) :: count = 0
    type(c_ptr) :: data = c_null_ptr
    integer(c_int64_t) :: data_bytes = 0
    type(c_ptr) :: lengths = c_null_ptr, offsets = c_null_ptr
    integer(c_int64_t) :: key_bytes = 0, stride = 0
    type(c_ptr) :: validity = c_null_ptr
    integer(c_int64_t) :: validity_offset = 0
  end type

  interface
    integer(c_int32_t) function bfs_create(path, options, made, error) bind(c)
      import; character(kind=c_char), intent(in) :: path(*); type(bfs_options), intent(in) :: options
      type(c_ptr), intent(out) :: made; type(bfs_error), intent(inout) :: error
    end function
    integer(c_int32_t) function bfs_open(path, flags, made, error) bind(c)
      import; character(kind=c_char), intent(in) :: path(*); integer(c_int64_t), value :: flags
      type(c_ptr), intent(out) :: made; type(bfs_error), intent(inout) :: error
    end function
    integer(c_int32_t) function bfs_close(filter, error) bind(c)
      import; type(c_ptr), value :: filter; type(bfs_error), intent(inout) :: error
    end function
    integer(c_int32_t) function bfs_add(filter, key, key_bytes) bind(c)
      import; type(c_ptr), value :: filter; character(kind=c_char), intent(in) :: key(*); integer(c_size_t), value :: key_bytes
    end function
    integer(c_int32_t) function bfs_contains(filter, key, key_bytes) bind(c)
      import; type(c_ptr), value :: filter; character(kind=c_char), intent(in) :: key(*); integer(c_size_t), value :: key_bytes
    end function
    integer(c_int64_t) function bfs_add_keys(filter, keys) bind(c)
      import; type(c_ptr), value :: filter; type(bfs_keys), intent(in) :: keys
    end function
    integer(c_int64_t) function bfs_contains_keys(filter, keys, answers) bind(c)
      import; type(c_ptr), value :: filter; type(bfs_keys), intent(in) :: keys; integer(c_int8_t), intent(out) :: answers(*)
    end function
    type(c_ptr) function bfs_strerror(code) bind(c)
      import; integer(c_int32_t), value :: code
    end function
    integer(c_size_t) function strlen(text) bind(c)
      import; type(c_ptr), value :: text
    end function
  end interface

contains
  ! An integer result below 0 is a code.
  subroutine check(code)
    integer(c_int64_t), intent(in) :: code
    if (code < 0) call stop_with(bfs_strerror(int(code, c_int32_t)))
  end subroutine

  subroutine stop_with(message)
    type(c_ptr), intent(in) :: message
    character(kind=c_char), pointer :: characters(:)
    call c_f_pointer(message, characters, [strlen(message)])
    write (error_unit, '(*(a))') characters
    stop 1, quiet=.true.
  end subroutine

  ! The bytes of all keys, without the blanks to which Fortran pads them, and where each begins and the last one ends.
  subroutine make_column(keys, bytes, ends, column)
    character(*), intent(in) :: keys(:)
    character(:), allocatable, target, intent(out) :: bytes
    integer(c_int32_t), target, intent(out) :: ends(0:)
    type(bfs_keys), intent(out) :: column
    integer :: i
    ends(0) = 0
    do i = 1, size(keys)
      ends(i) = ends(i - 1) + len_trim(keys(i))
    end do
    allocate (character(ends(size(keys))) :: bytes)
    do i = 1, size(keys)
      bytes(ends(i - 1) + 1:ends(i)) = keys(i)
    end do
    column = bfs_keys(struct_bytes=c_sizeof(column), kind=bfs_keys_column32, count=size(keys), data=c_loc(bytes), &
                      data_bytes=len(bytes), offsets=c_loc(ends))
  end subroutine
end module

program agree
  use bfstore
  implicit none
  character(4096) :: words(4) = ''
  character(:), allocatable :: path
  character(256), allocatable :: keys(:)
  integer(c_int64_t) :: number = 0
  integer :: i
  type(c_ptr) :: filter
  type(bfs_error), target :: error
  do i = 1, command_argument_count()
    call get_command_argument(i, words(i))
  end do
  path = trim(words(2)) // c_null_char
  i = merge(3, 4, words(1) == 'create')
  if (words(i) /= '') read (words(i), *) number
  allocate (keys(merge(0_c_int64_t, number, words(1) == 'create')))
  do i = 1, size(keys)
    write (keys(i), '(a, "-", i0)') trim(words(3)), i - 1
  end do
  error%struct_bytes = c_sizeof(error)
  select case (words(1))
  case ('create')
    call create(capacity=number, fpr=0.01_c_double)
  case ('add')
    if (bfs_open(path, bfs_open_write, filter, error) /= 0) call stop_with(c_loc(error%message))
    call add(keys(1::2), keys(2::2))
    if (bfs_close(filter, error) /= 0) call stop_with(c_loc(error%message))  ! what was added is on the disk, or it says why not
  case ('ask')
    if (bfs_open(path, bfs_open_read, filter, error) /= 0) call stop_with(c_loc(error%message))
    call ask()
    if (bfs_close(filter, error) /= 0) call stop_with(c_loc(error%message))
  case ('fail')
    if (bfs_open(path, bfs_open_read, filter, error) == 0) error stop 'opened'
    print '(i0, 1x, i0, 1x, a)', error%code, error%os_errno, 'bfs_error'
  end select

contains
  subroutine create(capacity, fpr)
    integer(c_int64_t), intent(in) :: capacity
    real(c_double), intent(in) :: fpr
    type(bfs_options) :: options
    options = bfs_options(struct_bytes=c_sizeof(options), capacity=capacity, fpr=fpr)
    if (bfs_create(path, options, filter, error) /= 0) call stop_with(c_loc(error%message))
    if (bfs_close(filter, error) /= 0) call stop_with(c_loc(error%message))
  end subroutine

  subroutine add(one_by_one, batch)
    character(*), intent(in) :: one_by_one(:), batch(:)
    character(:), allocatable, target :: bytes
    integer(c_int32_t), target :: ends(0:size(batch))
    type(bfs_keys) :: column
    do i = 1, size(one_by_one)
      call check(int(bfs_add(filter, one_by_one(i), len_trim(one_by_one(i), c_size_t)), c_int64_t))
    end do
    call make_column(batch, bytes, ends, column)
    call check(bfs_add_keys(filter, column))
  end subroutine

  subroutine ask()
    integer(c_int8_t) :: answers(size(keys))  ! 1 is maybe, 0 is certainly not
    integer(c_int32_t) :: single(size(keys))
    character(:), allocatable, target :: bytes
    integer(c_int32_t), target :: ends(0:size(keys))
    type(bfs_keys) :: column
    do i = 1, size(keys)
      single(i) = bfs_contains(filter, keys(i), len_trim(keys(i), c_size_t))  ! 0 is the only no
    end do
    call make_column(keys, bytes, ends, column)
    call check(bfs_contains_keys(filter, column, answers))
    if (any(single /= answers)) error stop 'one by one and as a batch are not the same'
    print '(*(i0))', answers
  end subroutine
end program
