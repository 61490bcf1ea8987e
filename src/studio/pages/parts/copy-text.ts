import { useHotkeys } from "../app/hotkeys.ts";
import { usePageState } from "../app/page-state.ts";

/** Copies a text to the clipboard, and shows the result. `name` is the subject, for example `the task id`. */
export type CopyText = (text: string, name: string) => Promise<boolean>;

/** Returns a function that copies a text. Pages in files may not use the clipboard in some browsers. */
export function useCopyText(): CopyText {
  const { showToast } = usePageState();
  return async (text, name) => {
    const isCopied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    showToast(isCopied ? `Copied ${name}` : `The browser does not allow the page to copy ${name}`);
    return isCopied;
  };
}

/** Something that the key `y` copies. */
export interface CopyTarget {
  readonly name: string;
  readonly text: () => string;
}

/** The key `y` copies the id of what is selected, and `Y` copies its JSON. */
export function useCopyHotkeys(id: CopyTarget | undefined, json: CopyTarget | undefined): void {
  const copyText = useCopyText();
  const toHotkey = (keys: string, target: CopyTarget | undefined) =>
    target === undefined
      ? []
      : [{ keys, label: `Copy ${target.name}`, run: () => void copyText(target.text(), target.name) }];
  useHotkeys([...toHotkey("y", id), ...toHotkey("Y", json)]);
}
