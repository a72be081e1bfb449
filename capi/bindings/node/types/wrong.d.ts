export function wrongType(message: string): TypeError;
export function wrongValue(message: string): TypeError;
export function outOfRange(message: string): RangeError;
export function wrongState(message: string): TypeError;
