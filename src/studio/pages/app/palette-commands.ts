/** A command that the palette offers. */
export interface PaletteCommand {
  /** Unique key of the command within the palette, such as the id of a task. */
  readonly key: string;
  readonly label: string;
  /** What the label omits, such as the state of a task or the keys of the command. */
  readonly detail?: string;
  readonly run: () => void;
}

/** Largest number of commands that the palette shows. */
const MAX_SHOWN_COMMANDS = 50;

/**
 * Returns the commands whose label, detail, or key contains all words of the query. Commands whose label begins with the
 * query come first.
 */
export function filterPaletteCommands(
  commands: readonly PaletteCommand[],
  query: string,
): readonly PaletteCommand[] {
  const wanted = query.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const found = commands.filter(({ key, label, detail = "" }) => {
    const text = `${label} ${detail} ${key}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const isPrefix = ({ label }: PaletteCommand): boolean => label.toLowerCase().startsWith(wanted);
  return [...found.filter(isPrefix), ...found.filter((command) => !isPrefix(command))].slice(
    0,
    MAX_SHOWN_COMMANDS,
  );
}
