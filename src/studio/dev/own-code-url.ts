const isBuilt = import.meta.url.endsWith(".js");

/** URL of the folder with Colloquy's own code: `src/` for `src/studio/dev/`, and `dist/` for `dist/chunks/`. */
export const OWN_CODE_URL: string = new URL(isBuilt ? ".." : "../..", import.meta.url).href;
