import type { SVGAttributes } from "preact";

/** Returns the attributes and event handlers of a clickable part of a diagram. */
export function buildSelectionButtonProps(
  key: string,
  description: string,
  isSelected: boolean,
  onSelect: (key: string) => void,
): SVGAttributes<SVGGElement> {
  return {
    role: "button",
    "aria-pressed": isSelected,
    "aria-label": description,
    onClick: () => onSelect(key),
    onKeyDown: (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      onSelect(key);
    },
  };
}
