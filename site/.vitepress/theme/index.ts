import type { Theme } from "vitepress";
import { h } from "vue";
import DefaultTheme from "vitepress/theme-without-fonts";
import recordingUrl from "../../../docs/images/kill.svg";
import { repairRoles } from "./repair-roles.ts";
// oxlint-disable-next-line import/no-unassigned-import -- the bundler adds the styles of the import
import "./style.css";

export default {
  extends: DefaultTheme,
  /** The home page shows the recording beside its title. */
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      "home-hero-image": () =>
        h("img", {
          class: "hero-recording",
          src: recordingUrl,
          alt: "Three terminals: kill -9 ends a server in the middle of an answer, and a new server continues it",
          width: 686,
          height: 302,
        }),
    }),
  enhanceApp() {
    if (!import.meta.env.SSR) repairRoles();
  },
} satisfies Theme;
