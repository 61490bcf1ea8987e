import type { DeclaredName } from "./list-names-and-sentences.ts";

interface NameRule {
  readonly pattern: RegExp;
  readonly advice: string;
  /** Kinds that the rule covers. Default: all but files. */
  readonly kinds?: readonly string[];
}

const NAME_RULES: readonly NameRule[] = [
  {
    pattern: /[a-z\d](?<!OnBehalf)Of$/,
    advice: "start with a verb that says what the function does: parse, render, count, find",
    kinds: ["function", "method"],
  },
  { pattern: /(?:Manager|Helper|Utils?)$|^(?:Default|I)[A-Z][a-z]/, advice: "name the thing itself" },
  {
    pattern:
      /^(?:desk|office|errand|letter|voice|lane|company|sitting|gate|door|witness|giver|place|said|asked|told|heard|given|anew|beside|inside|some|here|there|way|what|who)s?$/i,
    advice: "use the standard term of the field",
  },
];

/** Words of a schema's own language, and members of ADK's base classes. */
const NAMES_EXEMPT_FROM_RULES: ReadonlySet<string> = new Set(["oneOf"]);

/** Returns one line for each name that breaks a rule. */
export function findBadNames(names: readonly DeclaredName[]): string[] {
  return names.flatMap(({ name, kind, file }) => {
    const own = name.split(".").at(-1)?.replace(/^#/, "") ?? name;
    if (kind === "file" || NAMES_EXEMPT_FROM_RULES.has(own)) return [];
    const broken = NAME_RULES.find(
      ({ pattern, kinds }) => pattern.test(own) && (kinds?.includes(kind) ?? true),
    );
    return broken ? [`${file}: ${kind} ${name}: ${broken.advice}`] : [];
  });
}
