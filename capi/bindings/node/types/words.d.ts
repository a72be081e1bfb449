/** At the beginning of a message. @type {readonly (readonly [string, string])[]} */
export const FUNCTIONS: readonly (readonly [string, string])[];
/** Words of a message about a function or about options. @type {readonly (readonly [string, string])[]} */
export const QUALIFIED: readonly (readonly [string, string])[];
/** Words of any message. @type {readonly (readonly [string, string])[]} */
export const NAMES: readonly (readonly [string, string])[];
/** Anywhere in a message. @type {readonly (readonly [string, string])[]} */
export const PHRASES: readonly (readonly [string, string])[];
