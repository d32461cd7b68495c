// Text whose contrast with what lies behind it is under the ratio given: [text, ratio].
(least) => {
  const channel = value => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  const light = ([red, green, blue]) =>
    0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue);
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const colour = text => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const behind = element => {
    for (let each = element; each; each = each.parentElement) {
      const found = colour(getComputedStyle(each).backgroundColor);
      if (found[3] === 255) return found;
    }
    return [255, 255, 255, 255];
  };
  const poor = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].filter(node => node.nodeType === 3 && node.data.trim());
    if (!own.length || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const isDrawn = element instanceof SVGElement;
    const [one, other] = [colour(isDrawn ? style.fill : style.color), behind(element)].map(light);
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < least) poor.push([own[0].data.trim().slice(0, 40), Math.round(ratio * 100) / 100]);
  }
  return poor;
}
