/** AN AG-UI ENDPOINT FOR A2A AGENTS. The events follow AG-UI 1.0, and need no package of AG-UI. */
export type { AgUiHandlerOptions } from "./ag-ui-handler.ts";
export { createAgUiHandler } from "./ag-ui-handler.ts";
