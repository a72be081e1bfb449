/* Wrong arguments are errors of Node.js's own kinds, with the codes of its own functions. */

/** @template {Error} E @param {E} error @param {string} code @param {Function} helper @returns {E} */
function coded(error, code, helper) {
  Error.captureStackTrace(error, helper); // the stack begins where the argument was refused
  return Object.assign(error, {code});
}

/** A value of another type than is wanted. @param {string} message @returns {TypeError} */
export const wrongType = (message) => coded(new TypeError(message), "ERR_INVALID_ARG_TYPE", wrongType);

/** A value of the right type that is none of those that are wanted. @param {string} message @returns {TypeError} */
export const wrongValue = (message) => coded(new TypeError(message), "ERR_INVALID_ARG_VALUE", wrongValue);

/** A number or a length out of its range. @param {string} message @returns {RangeError} */
export const outOfRange = (message) => coded(new RangeError(message), "ERR_OUT_OF_RANGE", outOfRange);

/** A call that does not go with others that run. @param {string} message @returns {TypeError} */
export const wrongState = (message) => coded(new TypeError(message), "ERR_INVALID_STATE", wrongState);
