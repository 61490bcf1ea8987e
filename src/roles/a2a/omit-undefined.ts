type WithoutUndefined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The members that are there. JSON has no `undefined`. */
export function omitUndefined<T extends object>(members: T): WithoutUndefined<T> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as WithoutUndefined<T>;
}
