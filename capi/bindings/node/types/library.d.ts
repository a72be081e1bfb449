/** Returns a pointer as a number, which koffi takes faster than a bigint. Processors have up to 2^48 bytes of addresses
 * for a program, unless the upper bits have tags. @param {bigint} pointer @returns {number} */
export function pointerOf(pointer: bigint): number;
/** @type {Record<string, Native>} */
export const lib: Record<string, Native>;
/** The version of the running library: "1.2.3". @type {string} */
export const version: string;
export function textAt(address: number): string;
export function addressOf(array: NodeJS.ArrayBufferView): number;
export type Native = {
    (...words: any[]): any;
    async: (...words: any[]) => void;
};
