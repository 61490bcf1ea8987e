/**
 * Adds getters to a promise that throw an error if a program reads a member of the result without `await`.
 * Without the getters, the program would read `undefined`, or fail with "is not a function".
 */
export function explainMissingAwait<T>(
  promise: Promise<T>,
  call: string,
  memberNames: readonly (keyof T & string)[],
): Promise<T> {
  for (const name of memberNames)
    void Object.defineProperty(promise, name, {
      get: () => {
        throw new TypeError(`${call} returns a promise. Write (await ${call}).${name} instead.`);
      },
    });
  return promise;
}
