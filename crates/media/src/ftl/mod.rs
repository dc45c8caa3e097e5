mod overlay;
