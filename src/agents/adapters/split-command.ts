/**
 * Splits a command line into arguments. Blanks, single quotes, double quotes, and backslashes have the same
 * meaning as in a shell. No shell runs, so variables and wildcards are not expanded. Unquoted pipes,
 * redirections, and substitutions are rejected instead of becoming arguments.
 */
export function splitCommand(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let index = 0; index < line.length; index++) {
    const char = line.charAt(index);
    if (quote === "'") {
      if (char === quote) quote = undefined;
      else word += char;
    } else if (char === "\\" && index + 1 < line.length) {
      const next = line.charAt(++index);
      // Inside "…", a backslash only escapes a quotation mark or a backslash.
      word = (word ?? "") + (quote && next !== '"' && next !== "\\" ? char + next : next);
    } else if (quote) {
      if (char === quote) quote = undefined;
      else word += char;
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= "";
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (/[|&;<>`]/.test(char) || (char === "$" && line.charAt(index + 1) === "(")) {
      throw new TypeError(
        `The command \`${line}\` uses \`${char}\`, which requires a shell. Quote it, or enable the \`shell\` option.`,
      );
    } else word = (word ?? "") + char;
  }
  if (quote) throw new TypeError(`The command \`${line}\` has an unclosed ${quote}.`);
  if (word !== undefined) words.push(word);
  if (words.length === 0) throw new TypeError("The command is empty. Name a program, for example `jq .`.");
  return words;
}
