import type { Page } from './support.ts';

/** How wide the page is, and what widens it. */
export const beyondTheEdge = (page: Page, times = 1) =>
  page.evaluate((most) => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= most * clientWidth) return [];
    const beyond = [...document.querySelectorAll('body *')].filter(
      (element) => element.getBoundingClientRect().left + element.scrollWidth > clientWidth + 1,
    );
    return [`${scrollWidth} px`, ...beyond.slice(-5).map((element) => element.outerHTML.slice(0, 120))];
  }, times);

/** Boxes of which a part is out of view at the side. */
export const scrolledSideways = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('body *')]
      .filter(
        (element) =>
          element.scrollWidth > element.clientWidth + 1 &&
          ['auto', 'scroll'].includes(getComputedStyle(element).overflowX),
      )
      .map((element) => `${element.className}: ${element.scrollWidth} of ${element.clientWidth} px`),
  );
