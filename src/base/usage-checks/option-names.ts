import { didYouMean } from "./did-you-mean.ts";

/** The words of a text, separated by spaces. */
type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;

/** The member names of every variant of an options type. */
type OptionName<Options> = Options extends unknown ? keyof Options & string : never;

/** `unknown` if the texts name exactly the options, and otherwise a type that shows the difference. */
type ExactOptionNames<Options, Text extends string> = [
  Exclude<OptionName<Options>, Words<Text>> | Exclude<Words<Text>, OptionName<Options>>,
] extends [never]
  ? unknown
  : {
      missing: Exclude<OptionName<Options>, Words<Text>>;
      unknown: Exclude<Words<Text>, OptionName<Options>>;
    };

/** Checks of the options whose values are options, too. A check is not called for the values `undefined` and `false`. */
type NestedChecks<Options> = { readonly [Name in OptionName<Options>]?: (value: never) => void };

/**
 * Defines the option names of a function that a package entry exports, and returns a function that throws a
 * `TypeError` for unknown options. Each text contains option names, separated by spaces. The compiler rejects texts
 * that do not name exactly the members of `Options`.
 */
export function defineOptionNames<Options>(
  nestedChecks: NestedChecks<Options> = {},
): <const Text extends string>(
  functionName: string,
  ...texts: (Text & ExactOptionNames<Options, Text>)[]
) => (options: unknown) => void {
  return (functionName, ...texts) => {
    const names = new Set(texts.flatMap((text) => text.split(" ")));
    return (options) => {
      assertKnownOptions(functionName, options, names);
      for (const [name, check] of Object.entries(nestedChecks) as [string, (value: unknown) => void][]) {
        const value = (options as Readonly<Record<string, unknown>> | undefined)?.[name];
        if (value !== undefined && value !== false) check(value);
      }
    };
  };
}

/** Returns the options that the texts name, for a function that passes its options to several functions. */
export function pickOptions<Options extends object>(options: Options, ...texts: readonly string[]): Options {
  const names = new Set(texts.flatMap((text) => text.split(" ")));
  return Object.fromEntries(Object.entries(options).filter(([name]) => names.has(name))) as Options;
}

function assertKnownOptions(functionName: string, options: unknown, names: ReadonlySet<string>): void {
  if (options === undefined) return;
  if (typeof options !== "object" || options === null)
    throw new TypeError(
      `The options of ${functionName} must be an object, not a value of type ${options === null ? "null" : typeof options}.`,
    );
  const mistakes = Object.keys(options)
    .filter((name) => !names.has(name))
    .map((name) => {
      const advice = didYouMean(name, names) || ` Its options are ${[...names].join(", ")}.`;
      return `${functionName} has no option ${JSON.stringify(name)}.${advice}`;
    });
  if (mistakes.length > 0) throw new TypeError(mistakes.join(" "));
}
