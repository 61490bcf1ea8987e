/** Light or dark as the system has it, until the reader says otherwise. */
export function toggleTheme(): string {
  const isDark = document.documentElement.dataset["theme"]
    ? document.documentElement.dataset["theme"] === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = isDark ? "light" : "dark";
  document.documentElement.dataset["theme"] = theme;
  return theme;
}
