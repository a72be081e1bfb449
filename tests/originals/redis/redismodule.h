/* What RedisBloom's chains of filters use of Redis: its memory.  Redis itself is not needed. */
#pragma once

#include <stddef.h>

extern void* (*RedisModule_Calloc)(size_t count, size_t bytes);
extern void* (*RedisModule_TryCalloc)(size_t count, size_t bytes);
extern void* (*RedisModule_Realloc)(void* memory, size_t bytes);
extern void (*RedisModule_Free)(void* memory);
