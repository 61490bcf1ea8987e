/** Creates the error for an option with an invalid value. `advice` names a valid value. */
export function createOptionError(name: string, value: unknown, advice: string): Error {
  return new Error(`${JSON.stringify(name)} is ${JSON.stringify(value)}; ${advice}.`);
}
