/**
 * The visible texts in these parts of the page whose contrast with their background is below WCAG 1.4.3, in light and in
 * dark colors, computed from their styles in the page. axe finds the same, but takes half a second, and re-rendering the
 * page in other colors as long again: here the colors change briefly without a repaint.
 */
export function textsOfLowContrast(parts: Element[]): string[] {
  const root = document.documentElement;
  const attribute = 'data-mantine-color-scheme';
  const canvas = new OffscreenCanvas(1, 1);
  const pen = canvas.getContext('2d', { willReadFrequently: true })!;
  const known = new Map<string, number[]>();

  /** The result of blending these colors, the lowest first: the canvas does the mixing. */
  function mixed(colors: string[]): number[] {
    const key = colors.join('|');
    const seen = known.get(key);
    if (seen) return seen;
    for (const color of colors) {
      pen.fillStyle = color;
      pen.fillRect(0, 0, 1, 1);
    }
    const pixel = [...pen.getImageData(0, 0, 1, 1).data];
    known.set(key, pixel);
    return pixel;
  }

  function luminance(pixel: number[]): number {
    const [r = 0, g = 0, b = 0] = pixel.map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  function behind(element: Element): string[] {
    const grounds = ['white'];
    for (let one: Element | null = element; one; one = one.parentElement)
      grounds.splice(1, 0, getComputedStyle(one).backgroundColor);
    return grounds;
  }

  const inactive = ':disabled, [data-disabled], [aria-disabled=true]';
  const low = new Set<string>();
  function look(text: string, element: Element, pseudo?: string): void {
    if (!text.trim() || element.closest(inactive)) return;
    if (!element.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true })) return;
    const { color, fontSize, fontWeight } = getComputedStyle(element, pseudo);
    const size = Number.parseFloat(fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700);
    const grounds = behind(element);
    const [darker = 0, lighter = 0] = [mixed(grounds), mixed([...grounds, color])]
      .map(luminance)
      .toSorted((one, other) => one - other);
    const contrast = (lighter + 0.05) / (darker + 0.05);
    if (contrast < (isLarge ? 3 : 4.5)) low.add(`"${text.trim().slice(0, 40)}" has ${contrast.toFixed(2)}:1`);
  }

  function lookAtAll(part: Element): void {
    const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) look(texts.currentNode.nodeValue!, texts.currentNode.parentElement!);
    for (const field of part.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
      'input:not([type=checkbox], [type=radio], [type=file]), textarea',
    )) {
      if (field.value) look(field.value, field);
      else look(field.placeholder, field, '::placeholder');
    }
  }

  // a transition between the schemes would give a color of neither
  const still = new CSSStyleSheet();
  still.replaceSync('*, ::before, ::after { transition: none !important }');
  document.adoptedStyleSheets.push(still);
  const shown = root.getAttribute(attribute)!;
  const said = ['light', 'dark'].flatMap((scheme) => {
    root.setAttribute(attribute, scheme);
    low.clear();
    for (const part of parts) lookAtAll(part);
    return [...low].map((text) => `${text}, ${scheme}`);
  });
  root.setAttribute(attribute, shown);
  void getComputedStyle(document.body).color;
  document.adoptedStyleSheets.pop();
  return said;
}
