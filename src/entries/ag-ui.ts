/** The `colloquy/ag-ui` entry point serves A2A agents to AG-UI clients. It runs on every platform with `fetch`. */
export * from "../ui/ag-ui/index.ts";
