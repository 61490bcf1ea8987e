import { signal } from "@preact/signals";

export type ThemeName = "light" | "dark";

const THEME_STORAGE_KEY = "colloquy-theme";

/** The chosen theme. Without a choice, the page uses the theme of the operating system. */
export const chosenTheme = signal<ThemeName | undefined>(undefined);

/** Applies the theme that the user chose earlier. */
export function restoreTheme(): void {
  const stored = readStoredTheme();
  if (stored !== undefined) applyTheme(stored);
}

/** Switches between the light and the dark theme, and returns the new theme. */
export function toggleTheme(): ThemeName {
  const isDark =
    chosenTheme.value === undefined
      ? matchMedia("(prefers-color-scheme: dark)").matches
      : chosenTheme.value === "dark";
  const theme: ThemeName = isDark ? "light" : "dark";
  applyTheme(theme);
  try {
    localStorage.setItem(THEME_STORAGE_KEY, theme);
  } catch {
    // A page from a file has no storage in some browsers. The choice then lasts until the page is closed.
  }
  return theme;
}

function applyTheme(theme: ThemeName): void {
  chosenTheme.value = theme;
  document.documentElement.dataset["theme"] = theme;
}

function readStoredTheme(): ThemeName | undefined {
  try {
    const stored = localStorage.getItem(THEME_STORAGE_KEY);
    return stored === "light" || stored === "dark" ? stored : undefined;
  } catch {
    return undefined;
  }
}
