import type { SVGAttributes } from "preact";
import { toSingleLine } from "../../../cards/index.ts";

/**
 * Returns the attributes and event handlers of a clickable part of a diagram. The text of the part is its accessible
 * name, so `description` contains what the text omits.
 */
export function buildSelectionButtonProps(
  key: string,
  description: string,
  isSelected: boolean,
  onSelect: (key: string) => void,
): SVGAttributes<SVGGElement> {
  return {
    role: "button",
    "aria-pressed": isSelected,
    "aria-description": toSingleLine(description),
    onClick: () => onSelect(key),
    onKeyDown: (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      onSelect(key);
    },
  };
}
