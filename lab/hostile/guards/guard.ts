/** A defence in the source, and how to remove it. */
export interface Guard {
  /** Name of the guard, for `--without`. */
  readonly name: string;
  /** File of the guard, relative to the root of the repository. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly find: string;
  /** Text that takes its place, and disables the guard. */
  readonly replace: string;
  /**
   * Name of the attack in `attacks/` that succeeds without the guard. Guards whose effect needs no load have a file of
   * tests instead, of which at least one fails without the guard.
   */
  readonly noticedBy: { readonly attack: string } | { readonly test: string };
}

/** Returns the source without a guard. Throws if the text of the guard does not occur exactly once. */
export function removeGuard(source: string, { name, file, find, replace }: Guard): string {
  const [before, after, ...more] = source.split(find);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(
      `The guard ${name} does not occur exactly once in ${file}; update its text in lab/hostile/guards.`,
    );
  return before + replace + after;
}
