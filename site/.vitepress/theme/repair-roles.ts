/**
 * Repairs roles of the default theme: the home page has no main landmark, the search dialog is a button that contains
 * other controls, its results are options that contain links, and the heading of a collapsible group of the sidebar is a
 * button that contains a button.
 */
const SET_ATTRIBUTES: readonly (readonly [selector: string, name: string, value: string])[] = [
  [".VPHome", "role", "main"],
  [".VPLocalSearchBox", "role", "search"],
];
const REMOVED_ATTRIBUTES: readonly (readonly [selector: string, ...names: string[]])[] = [
  [".VPSidebarItem.collapsible > .item", "role", "tabindex"],
  [".VPLocalSearchBox", "aria-expanded", "aria-haspopup", "aria-owns"],
  [".VPLocalSearchBox .results", "role", "aria-labelledby"],
  [".VPLocalSearchBox .results > li", "role", "aria-selected"],
  [".VPLocalSearchBox .result", "aria-label"],
  [".VPLocalSearchBox input", "aria-activedescendant", "aria-autocomplete", "aria-controls"],
  [".VPLocalSearchBox kbd", "aria-label"],
];

/** Repairs the roles whenever the page changes. */
export function repairRoles(): void {
  const repair = (): void => {
    for (const [selector, name, value] of SET_ATTRIBUTES)
      for (const element of document.querySelectorAll(selector))
        if (element.getAttribute(name) !== value) element.setAttribute(name, value);
    for (const [selector, ...names] of REMOVED_ATTRIBUTES)
      for (const element of document.querySelectorAll(selector))
        for (const name of names) element.removeAttribute(name);
  };
  const attributeFilter = ["role", ...new Set(REMOVED_ATTRIBUTES.flatMap(([, ...names]) => names))];
  new MutationObserver(repair).observe(document.body, { childList: true, subtree: true, attributeFilter });
  repair();
}
