/** Whether the script sends requests to agents. `scripts/build-page.mjs` replaces the constant in each script. */
declare const PAGE_SENDS_REQUESTS: boolean;
