import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { repairRoles } from "./repair-roles.ts";
// oxlint-disable-next-line import/no-unassigned-import -- the bundler adds the styles of the import
import "./style.css";

export default {
  extends: DefaultTheme,
  enhanceApp() {
    if (!import.meta.env.SSR) repairRoles();
  },
} satisfies Theme;
