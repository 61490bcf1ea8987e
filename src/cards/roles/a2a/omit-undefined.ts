type WithoutUndefined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/**
 * Returns a copy of an object without members whose value is `undefined`. JSON cannot represent `undefined`.
 */
export function omitUndefined<T extends object>(members: T): WithoutUndefined<T> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as WithoutUndefined<T>;
}
