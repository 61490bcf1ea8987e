/**
 * Toggles between the light and the dark theme and returns the new theme. Initially, the page uses the theme
 * of the operating system.
 */
export function toggleTheme(): string {
  const isDark = document.documentElement.dataset["theme"]
    ? document.documentElement.dataset["theme"] === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = isDark ? "light" : "dark";
  document.documentElement.dataset["theme"] = theme;
  return theme;
}
