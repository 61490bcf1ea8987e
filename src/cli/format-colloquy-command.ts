import { basename, relative } from "node:path";

/**
 * Returns the command that started `colloquy`, for example `npx --no -- colloquy`. Printed commands start with this
 * prefix, so that users can paste them.
 */
export function getInvocationCommand(
  argv: readonly string[] = process.argv,
  env: Record<string, string | undefined> = process.env,
): string {
  if (env["npm_command"] === "exec") return "npx --no -- colloquy";
  // In a clone, npm scripts run on the bundled Node version, because the host's version may be too old. The scripts of
  // other projects find the installed command.
  if (env["npm_lifecycle_event"] !== undefined)
    return env["npm_package_name"] === "colloquy" ? "npm run -s colloquy --" : "npx --no -- colloquy";
  const script = argv[1] ?? "colloquy";
  const name = basename(script);
  return name === "colloquy" || name === "a2a-colloquy" ? name : `node ${relative(process.cwd(), script)}`;
}

/** Quotes a word for a POSIX shell. Words that contain only safe characters remain unquoted. */
export function quoteShellWord(word: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Formats a `colloquy` command with the given arguments, for example `colloquy send 'two words'`. */
export function formatColloquyCommand(...words: string[]): string {
  return [getInvocationCommand(), ...words.map(quoteShellWord)].join(" ");
}
