/**
 * Splits a command line into words as a shell does: blanks separate, '…' is literal, "…" and \ quote. Nothing is
 * expanded, because no shell runs; what only a shell could do (pipes, redirections, substitutions) is refused when it
 * is not quoted, so that it never silently becomes an argument.
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
      // Within "…" a backslash only quotes what would be special there.
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
        `The command \`${line}\` uses \`${char}\`, which only a shell understands: quote it, or ask for a shell.`,
      );
    } else word = (word ?? "") + char;
  }
  if (quote) throw new TypeError(`The command \`${line}\` has a ${quote} that is not closed.`);
  if (word !== undefined) words.push(word);
  if (words.length === 0) throw new TypeError("The command is empty: name a program, for example `jq .`.");
  return words;
}
