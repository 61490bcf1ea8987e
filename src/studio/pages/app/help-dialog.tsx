import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { formatKeys, listActiveHotkeys } from "./hotkeys.ts";

const isHelpOpen = signal(false);

export function openHelpDialog(): void {
  isHelpOpen.value = true;
}

/** Lists the keyboard commands of the current screen. */
export function HelpDialog(): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = isHelpOpen.value;
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClose={() => (isHelpOpen.value = false)}>
      <h2 id="help-title">Keyboard</h2>
      {isOpen && (
        <dl class="hotkeys">
          {listActiveHotkeys().map(({ keys, label }) => (
            <div key={keys}>
              <dt>
                {formatKeys(keys).map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{label}</dd>
            </div>
          ))}
        </dl>
      )}
      <form method="dialog">
        <button>Close</button>
      </form>
    </dialog>
  );
}
