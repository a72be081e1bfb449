/** @template T @param {Call<T>} call @returns {T} */
export function now<T>(call: Call<T>): T;
/** @template T @param {Call<T>} call @returns {Promise<T>} */
export function later<T>(call: Call<T>): Promise<T>;
/** Runs the steps of a generator; each step is a call. @template T @param {Generator<Call<any>, T, any>} steps
 * @returns {T} */
export function stepsNow<T>(steps: Generator<Call<any>, T, any>): T;
/** @template T @param {Generator<Call<any>, T, any>} steps @returns {Promise<T>} */
export function stepsLater<T>(steps: Generator<Call<any>, T, any>): Promise<T>;
/** @param {object} filter */
export function closeNow(filter: object): void;
/** @param {object} filter @returns {Promise<void>} */
export function closeLater(filter: object): Promise<void>;
/** @param {object} filter */
export function publishNow(filter: object): void;
/** @param {object} filter @returns {Promise<void>} */
export function publishLater(filter: object): Promise<void>;
/** Keeps the memory of the current call: the collector may free a local variable that is not used again before the
 * call ends.
 * @type {{what: unknown}} */
export const held: {
    what: unknown;
};
/**
 * One call. Its arguments do not include bfs_error, which is the last argument of all these functions.
 */
export type Call<T> = {
    fn: string;
    /**
     * the filters
     */
    uses: readonly object[];
    /**
     * koffi passes arrays as their memory
     */
    args: (...handles: number[]) => unknown[];
    /**
     * the object whose memory the arguments only point to
     */
    kept?: unknown;
    /**
     * the name of the thing in errors
     */
    name: string;
    /**
     * the same if it is a file
     */
    path?: string | undefined;
    finish: (result: number) => T;
};
