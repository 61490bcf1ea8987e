import { useEffect, useRef } from "preact/hooks";

/** A keyboard command. */
export interface Hotkey {
  /**
   * The key or the sequence of keys, for example `j`, `g t`, `Escape`, or `Mod+k`. `Mod` is the Command key on a Mac
   * and the Control key elsewhere.
   */
  readonly keys: string;
  /** The effect, for the help dialog. */
  readonly label: string;
  readonly run: () => void;
  /** Whether the key also works while the focus is in a text field or a dialog. Default: false. */
  readonly isActiveInFields?: boolean;
}

const activeHotkeys = new Map<symbol, readonly Hotkey[]>();
const SEQUENCE_TIMEOUT_MS = 1_200;

/** Returns the commands of all mounted components, for the help dialog. */
export function listActiveHotkeys(): Hotkey[] {
  return [...activeHotkeys.values()].flat();
}

/** Registers keyboard commands while the component is mounted. Later components have precedence. */
export function useHotkeys(hotkeys: readonly Hotkey[]): void {
  const owner = useRef(Symbol("hotkeys"));
  activeHotkeys.set(owner.current, hotkeys);
  useEffect(() => () => void activeHotkeys.delete(owner.current), []);
}

/** Listens to the keyboard, and returns a function that ends the listening. */
export function startHotkeys(): () => void {
  let prefix = "";
  let prefixAt = 0;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing) return;
    const key = formatKey(event);
    const sequence =
      prefix !== "" && event.timeStamp - prefixAt < SEQUENCE_TIMEOUT_MS ? `${prefix} ${key}` : key;
    prefix = "";
    const isInDialog = document.querySelector("dialog[open]") !== null;
    const isInField = isTextField(event.target);
    // Escape leaves a field, so that the keys are commands again.
    if (key === "Escape" && isInField && !isInDialog) event.target.blur();
    const commands = listActiveHotkeys().filter(
      ({ isActiveInFields }) => !(isInField || isInDialog) || isActiveInFields,
    );
    const command =
      commands.findLast(({ keys }) => keys === sequence) ?? commands.findLast(({ keys }) => keys === key);
    if (command !== undefined) {
      event.preventDefault();
      command.run();
    } else if (commands.some(({ keys }) => keys.startsWith(`${key} `))) {
      prefix = key;
      prefixAt = event.timeStamp;
    }
  };
  addEventListener("keydown", onKeyDown);
  return () => removeEventListener("keydown", onKeyDown);
}

/** Returns the keys of a sequence as the keyboard of the user names them. */
export function formatKeys(keys: string): string[] {
  const modifier = /Mac|iP(?:hone|ad)/.test(navigator.userAgent) ? "⌘" : "Ctrl+";
  return keys.split(" ").map((key) => key.replace("Mod+", modifier));
}

function formatKey({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): string {
  if (altKey) return `Alt+${key}`;
  return ctrlKey || metaKey ? `Mod+${key.toLowerCase()}` : key;
}

/** Returns whether the keys of an element have an effect of their own, as in text fields and select elements. */
function isTextField(target: EventTarget | null): target is HTMLElement {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
