! The program `agree` (languages.py) of Fortran, by the sample.
program agree
  use bfstore
  implicit none
  character(4096) :: words(4) = ''
  character(:), allocatable :: path
  character(256), allocatable, target :: keys(:)
  integer(c_int64_t) :: number = 0
  integer :: i
  type(c_ptr) :: filter
  type(bfs_error) :: error
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
  select case (words(1))
  case ('create')
    call check(bfs_open(path, bfs_write + bfs_create, bfs_options(capacity=number, fpr=0.01_c_double), filter, error), error)
    call check(bfs_close(filter, error), error)
  case ('add')
    call check(bfs_open(path, bfs_write, made=filter, error=error), error)
    call add(keys(1::2), keys(2::2))
    call check(bfs_close(filter, error), error)
  case ('ask')
    call check(bfs_open(path, bfs_read, made=filter, error=error), error)
    call ask()
    call check(bfs_close(filter, error), error)
  case ('fail')
    if (bfs_open(path, bfs_read, made=filter, error=error) == 0) error stop 'opened'
    print '(i0, 1x, i0, 1x, a)', error%code, error%os_errno, 'bfs_error'
  end select

contains
  subroutine add(one_by_one, batch)
    character(*), intent(in) :: one_by_one(:)
    character(*), intent(in), target :: batch(:)
    type(bfs_key), target :: list(size(batch))
    do i = 1, size(one_by_one)
      call check(bfs_add(filter, one_by_one(i), len_trim(one_by_one(i), c_size_t)))
    end do
    list = pairs(batch)
    call check(int(bfs_add_keys(filter, bfs_keys(count=size(list), data=c_loc(list)))))
  end subroutine

  subroutine ask()
    integer(c_int8_t) :: answers(size(keys))
    integer :: single(size(keys))
    type(bfs_key), target :: list(size(keys))
    do i = 1, size(keys)
      single(i) = bfs_contains(filter, keys(i), len_trim(keys(i), c_size_t))
    end do
    list = pairs(keys)
    call check(int(bfs_contains_keys(filter, bfs_keys(count=size(list), data=c_loc(list)), answers)))
    if (any(single /= answers)) error stop 'one by one and as a batch are not the same'
    print '(*(i0))', answers
  end subroutine
end program
